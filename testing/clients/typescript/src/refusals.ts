// What is refused, and that the client gives each refusal its own class and the code it has.
import assert from 'node:assert/strict';
import Cloudflare, { type APIError } from 'cloudflare';
import { cloudflare, command, control, full, readToken, situation, skip, withToken, zoneName } from './stage.js';
import { zone } from './zones.js';

type Class = new (...given: never[]) => APIError;

export async function refused(call: PromiseLike<unknown>, kind: Class, code: number): Promise<void> {
  await assert.rejects(Promise.resolve(call), (error) => {
    assert.ok(error instanceof kind, `${error}`);
    assert.equal(error.errors[0]?.code, code);
    assert.ok(error.errors[0]?.message, 'a text');
    return true;
  });
}

const create = (type: 'A' | 'CNAME', name: string, content: string, client = cloudflare): PromiseLike<unknown> =>
  client.dns.records.create({ zone_id: zone(), type, name: full(name), content, ttl: 1 });

/** The next `times` reads of the zone go wrong. */
async function fault(name: string, times = 1): Promise<void> {
  if (control === undefined) skip('only the sandbox fails on command');
  await command('POST', `/faults/${name}`, { method: 'GET', path: `/zones/${zone()}`, times });
}

export async function refusals(): Promise<void> {
  await situation('a malformed token is refused', async () => {
    await refused(withToken('not a token').zones.list(), Cloudflare.BadRequestError, 6003);
  });
  await situation('an unknown token is refused', async () => {
    const client = withToken('x'.repeat(40));
    await refused(client.user.tokens.verify(), Cloudflare.AuthenticationError, 1000);
    await refused(client.zones.get({ zone_id: zone() }), Cloudflare.AuthenticationError, 9109);
  });
  await situation('a token without the permission is refused', async () => {
    const client = withToken(readToken ?? skip('no such token is given'));
    assert.equal((await client.zones.get({ zone_id: zone() })).name, zoneName);
    await refused(create('A', 'forbidden', '192.0.2.60', client), Cloudflare.PermissionDeniedError, 10000);
  });
  await situation('a duplicate record is refused', async () => {
    await refused(create('A', 'proxied', '192.0.2.11'), Cloudflare.BadRequestError, 81058);
  });
  await situation('a CNAME beside an address is refused', async () => {
    await refused(create('CNAME', 'proxied', 'target.example.net'), Cloudflare.BadRequestError, 81053);
  });
  await situation('invalid content is refused', async () => {
    await refused(create('A', 'invalid', '192.0.2'), Cloudflare.BadRequestError, 9005);
    const ttl = { zone_id: zone(), type: 'A', name: full('invalid'), content: '192.0.2.70', ttl: 7 } as const;
    await refused(cloudflare.dns.records.create(ttl), Cloudflare.BadRequestError, 9021);
  });
  await situation('a record that is not there is not found', async () => {
    const call = cloudflare.dns.records.get('0'.repeat(32), { zone_id: zone() });
    await refused(call, Cloudflare.NotFoundError, 81044);
  });
  await situation('a zone that is not there is refused', async () => {
    const call = cloudflare.zones.get({ zone_id: '0'.repeat(32) });
    await refused(call, Cloudflare.PermissionDeniedError, 9109);
  });
  await situation('too many requests are an error of their own', async () => {
    await fault('429');
    await assert.rejects(cloudflare.zones.get({ zone_id: zone() }, { maxRetries: 0 }), (error) => {
      assert.ok(error instanceof Cloudflare.RateLimitError, `${error}`);
      assert.equal(error.headers.get('retry-after'), '5');
      assert.equal(error.errors[0]?.code, 10429);
      return true;
    });
  });
  await situation('too many requests wait for Retry-After', async () => {
    await fault('429');
    const began = Date.now();
    assert.equal((await cloudflare.zones.get({ zone_id: zone() })).id, zone());
    const waited = Date.now() - began;
    assert.ok(waited >= 4900 && waited < 15000, `waited ${waited} ms`);
  });
  await situation('a server that fails for a moment is asked again', async () => {
    for (const name of ['500', '502', '503']) {
      await fault(name);
      assert.equal((await cloudflare.zones.get({ zone_id: zone() })).id, zone());
    }
    await fault('500');
    const call = cloudflare.zones.get({ zone_id: zone() }, { maxRetries: 0 });
    await assert.rejects(call, Cloudflare.InternalServerError);
  });
}
