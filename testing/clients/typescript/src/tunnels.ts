// Tunnels: three are made, found, read, changed, configured and deleted.
import assert from 'node:assert/strict';
import Cloudflare from 'cloudflare';
import { refused } from './refusals.js';
import { account, cloudflare, command, control, situation, skip, zoneName } from './stage.js';

const api = cloudflare.zeroTrust.tunnels.cloudflared;
const owned = { account_id: account };
const unknown = '00000000-0000-4000-8000-000000000000';
/** All tunnels of this run, and none of anybody else. */
const prefix = `${zoneName} `;

/** The tunnels that this run made and that still stand. Nothing is done to any other. */
const made: string[] = [];
const tunnel = (): string => made[0] ?? skip('there is no tunnel');

async function create(name: string): Promise<Cloudflare.CloudflareTunnel> {
  const answer = await api.create({ ...owned, name: prefix + name, config_src: 'cloudflare' });
  assert.ok(answer.id, 'an ID');
  made.push(answer.id);
  return answer;
}

const ours = { ...owned, include_prefix: prefix, is_deleted: false };
const ids = async (query: object): Promise<(string | undefined)[]> =>
  (await api.list({ ...ours, ...query })).result.map((each) => each.id);

async function listed(): Promise<void> {
  tunnel();
  for (const name of ['second', 'third']) await create(name);
  const found: (string | undefined)[] = [];
  let pages = 0;
  for await (const page of (await api.list({ ...ours, per_page: 2 })).iterPages()) {
    // The client asks until a page is empty.
    if (page.result.length > 0) pages += 1;
    found.push(...page.result.map((each) => each.id));
  }
  assert.equal(pages, 2);
  assert.deepEqual([...found].sort(), [...made].sort());
}

async function filtered(): Promise<void> {
  const id = tunnel();
  assert.deepEqual(await ids({ name: `${prefix}first` }), [id]);
  assert.deepEqual(await ids({ uuid: id, status: 'inactive' }), [id]);
  assert.deepEqual(await ids({ status: 'healthy' }), []);
  assert.deepEqual((await ids({ exclude_prefix: `${prefix}f` })).length, 2);
  assert.deepEqual(await ids({ is_deleted: true, uuid: id }), []);
  assert.deepEqual(await ids({ existed_at: '2019-01-01T00:00:00Z' }), []);
}

async function secret(): Promise<void> {
  const read = async (): Promise<string> => api.token.get(tunnel(), owned);
  const parts = (token: string): { [key: string]: string } => JSON.parse(Buffer.from(token, 'base64').toString());
  const first = await read();
  assert.deepEqual([parts(first)['a'], parts(first)['t']], [account, tunnel()]);
  assert.equal(await read(), first, 'it stays the same');
  const tunnel_secret = Buffer.alloc(32, 7).toString('base64');
  await api.edit(tunnel(), { ...owned, tunnel_secret });
  assert.equal(parts(await read())['s'], tunnel_secret);
  const short = Buffer.alloc(31).toString('base64');
  await refused(api.edit(tunnel(), { ...owned, tunnel_secret: short }), Cloudflare.BadRequestError, 1003);
}

async function configured(): Promise<void> {
  await refused(api.configurations.get(tunnel(), owned), Cloudflare.NotFoundError, 1055);
  const config = {
    ingress: [
      { hostname: `www.${zoneName}`, path: '/app', service: 'http://web:80', originRequest: { noTLSVerify: true } },
      { hostname: '', service: 'http_status:404' },
    ],
    originRequest: { connectTimeout: 5 },
  };
  for (const version of [1, 2]) {
    const answer = await api.configurations.update(tunnel(), { ...owned, config });
    assert.equal(answer.version, version);
    assert.deepEqual(await api.configurations.get(tunnel(), owned), answer);
    assert.deepEqual(answer.config?.ingress, config.ingress);
    assert.equal(answer.source, 'cloudflare');
  }
  const ingress = [{ hostname: `www.${zoneName}`, service: 'http://web:80' }];
  const open = api.configurations.update(tunnel(), { ...owned, config: { ingress } });
  await refused(open, Cloudflare.BadRequestError, 1056);
}

async function connected(): Promise<void> {
  if (control === undefined) skip('only the sandbox plays a connector');
  await command('POST', `/tunnels/${tunnel()}/connectors`, {});
  assert.equal((await api.get(tunnel(), owned)).status, 'healthy');
  const [client] = (await api.connections.get(tunnel(), owned)).result;
  assert.equal(client?.conns?.length, 4);
  assert.ok(client?.id, 'an ID');
  const connector = await api.connectors.get(client.id, { ...owned, tunnel_id: tunnel() });
  assert.deepEqual(connector, client);
  await refused(api.delete(tunnel(), owned), Cloudflare.BadRequestError, 1022);
  await api.connections.delete(tunnel(), owned);
  assert.equal((await api.get(tunnel(), owned)).status, 'down');
}

async function removed(): Promise<void> {
  tunnel();
  for (const id of [...made]) {
    assert.ok((await api.delete(id, owned)).deleted_at, 'a time');
    made.splice(made.indexOf(id), 1);
    assert.ok((await api.get(id, owned)).deleted_at, 'it can still be read');
  }
  assert.deepEqual(await ids({}), []);
}

export async function tunnels(): Promise<void> {
  const cleansUp = true;
  await situation('a tunnel is created', async () => {
    assert.deepEqual(await ids({}), [], `tunnels ${prefix}... exist already`);
    const answer = await create('first');
    assert.equal(answer.status, 'inactive');
    assert.equal(answer.account_tag, account);
    assert.equal(answer.config_src, 'cloudflare');
  });
  await situation('the same tunnel again is a duplicate', async () => {
    tunnel();
    await refused(api.create({ ...owned, name: `${prefix}first` }), Cloudflare.ConflictError, 1013);
  });
  await situation('tunnels are listed page by page', listed);
  await situation('tunnels are filtered', filtered);
  await situation('the tunnel is read and renamed', async () => {
    assert.equal((await api.get(tunnel(), owned)).name, `${prefix}first`);
    assert.equal((await api.edit(tunnel(), { ...owned, name: `${prefix}renamed` })).name, `${prefix}renamed`);
  });
  await situation('the token of the tunnel changes with its secret', secret);
  await situation('the tunnel is configured', configured);
  await situation('a tunnel that is not there is not found', async () => {
    await refused(api.get(unknown, owned), Cloudflare.NotFoundError, 1002);
  });
  await situation('a connected tunnel cannot be deleted', connected);
  await situation('the tunnels are deleted', removed, cleansUp);
}
