// Tokens, accounts and zones: the throw-away zone is made, found, read, changed and deleted.
import assert from 'node:assert/strict';
import Cloudflare from 'cloudflare';
import { account, cloudflare, command, control, ownedToken, situation, skip, withToken, zoneName } from './stage.js';

/** The zone that this run made. Nothing is done to any other. */
let made = '';
export const zone = (): string => made || skip('there is no zone');

/** Makes the zone, unless one of that name is there: that one belongs to somebody. */
async function create(): Promise<void> {
  const there = await cloudflare.zones.list({ name: zoneName });
  assert.equal(there.result.length, 0, `${zoneName} exists already; name a domain that is not in Cloudflare`);
  const answer = await cloudflare.zones.create({ account: { id: account }, name: zoneName, type: 'full' });
  made = answer.id;
  assert.match(answer.id, /^[0-9a-f]{32}$/);
  assert.equal(answer.name, zoneName);
  assert.equal(answer.account.id, account);
  assert.equal(answer.type, 'full');
  assert.equal(answer.paused, false);
  assert.equal(answer.name_servers.length, 2);
  assert.ok(answer.status === 'initializing' || answer.status === 'pending', answer.status);
  assert.ok(Date.parse(answer.created_on) > 0, answer.created_on);
}

async function listed(): Promise<void> {
  let pages = 0;
  const ids: string[] = [];
  for await (const page of (await cloudflare.zones.list({ per_page: 5 })).iterPages()) {
    assert.ok(page.result.length <= 5);
    pages += 1;
    ids.push(...page.result.map((each) => each.id));
  }
  assert.equal(new Set(ids).size, ids.length, 'no zone is on two pages');
  assert.ok(ids.includes(zone()), 'the zone is on one of the pages');
  if (control !== undefined) assert.ok(pages > 2 && ids.length > 10, `${ids.length} zones on ${pages} pages`);
}

async function filtered(): Promise<void> {
  const ids = async (query: Cloudflare.Zones.ZoneListParams): Promise<string[]> =>
    (await cloudflare.zones.list(query)).result.map((each) => each.id);
  const id = zone();
  assert.deepEqual(await ids({ name: zoneName }), [id]);
  assert.deepEqual(await ids({ name: `starts_with:${zoneName.slice(0, -2)}`, account: { id: account } }), [id]);
  assert.deepEqual(await ids({ name: zoneName, account: { id: 'f'.repeat(32) } }), []);
  assert.deepEqual(await ids({ name: zoneName, status: 'active' }), []);
  assert.deepEqual(await ids({ name: zoneName, type: ['internal', 'full'] }), [id], 'one of two types');
  assert.deepEqual(await ids({ name: zoneName, type: ['internal', 'partial'] }), []);
  const down = await cloudflare.zones.list({ order: 'name', direction: 'desc', per_page: 50 });
  const names = down.result.map((each) => each.name);
  assert.deepEqual(names, [...names].sort().reverse());
}

export async function begin(): Promise<void> {
  await situation('the token is active', async () => {
    const verdict = await cloudflare.user.tokens.verify();
    assert.equal(verdict.status, 'active');
    assert.match(verdict.id, /^[0-9a-f]{32}$/);
  });
  await situation('an account-owned token is active', async () => {
    const client = withToken(ownedToken ?? skip('no such token is given'));
    const verdict = await client.accounts.tokens.verify({ account_id: account });
    assert.equal(verdict.status, 'active');
    await assert.rejects(client.user.tokens.verify(), Cloudflare.AuthenticationError);
  });
  await situation('the account is read and listed', async () => {
    const one = await cloudflare.accounts.get({ account_id: account });
    assert.equal(one.id, account);
    const ids: string[] = [];
    for await (const each of cloudflare.accounts.list({ per_page: 5 })) ids.push(each.id);
    assert.ok(ids.includes(account));
  });
  await situation('a zone is created', create);
  await situation('the same zone again is a duplicate', async () => {
    zone();
    await assert.rejects(
      cloudflare.zones.create({ account: { id: account }, name: zoneName }),
      (error) => error instanceof Cloudflare.BadRequestError && error.errors[0]?.code === 1061,
    );
  });
  await situation('zones are listed page by page', listed);
  await situation('zones are filtered', filtered);
  await situation('the zone is read', async () => {
    const answer = await cloudflare.zones.get({ zone_id: zone() });
    assert.equal(answer.id, zone());
    assert.equal(answer.name, zoneName);
    assert.equal(answer.plan.name, 'Free Website');
  });
  await situation('the zone is paused and resumed', async () => {
    for (const paused of [true, false]) {
      assert.equal((await cloudflare.zones.edit({ zone_id: zone(), paused })).paused, paused);
      assert.equal((await cloudflare.zones.get({ zone_id: zone() })).paused, paused);
    }
  });
  await situation('the usage of the zone is read', async () => {
    const usage = await cloudflare.dns.usage.zone.get({ zone_id: zone() });
    assert.equal(usage.record_usage, 0);
    assert.ok(usage.record_quota === null || usage.record_quota > 0, 'a quota');
  });
  await situation('the subscription of the zone is read', async () => {
    const subscription = await cloudflare.zones.subscriptions.get({ zone_id: zone() });
    assert.equal(subscription.rate_plan?.id, 'free');
  });
  await situation('the hold of the zone is read', async () => {
    assert.equal((await cloudflare.zones.holds.get({ zone_id: zone() })).hold, false);
  });
}

export async function end(): Promise<void> {
  const cleansUp = true;
  const remove = async (): Promise<void> => {
    const id = zone();
    assert.equal((await cloudflare.zones.delete({ zone_id: id }))?.id, id);
    made = '';
    assert.equal((await cloudflare.zones.list({ name: zoneName })).result.length, 0);
  };
  await situation('the zone is deleted', remove, cleansUp);
}

/** Puts the zone on a plan, which only the sandbox lets one do. */
export async function plan(name: string): Promise<void> {
  if (control === undefined) skip('a real plan costs money');
  await command('POST', `/zones/${zone()}/plan`, { plan: name });
}
