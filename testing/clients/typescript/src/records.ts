// Records: all types, each way to list and to change them, and zone files.
import assert from 'node:assert/strict';
import Cloudflare from 'cloudflare';
import { cloudflare, full, holds, situation, wanted, zoneName } from './stage.js';
import { plan, zone } from './zones.js';

type Create = Cloudflare.DNS.Records.RecordCreateParams;
type Batch = Cloudflare.DNS.Records.RecordBatchParams;
type List = Omit<Cloudflare.DNS.Records.RecordListParams, 'zone_id'>;
type Response = Cloudflare.DNS.Records.RecordResponse;
const records = cloudflare.dns.records;

/** The id of each record of the shared list. */
const ids: string[] = [];
const body = (index: number): Create => {
  const one = wanted[index];
  assert.ok(one);
  return { zone_id: zone(), type: one.type, name: full(one.name), ...one.body } as unknown as Create;
};
const expected = (index: number): { [field: string]: unknown } => {
  const { zone_id: _, ...sent } = body(index);
  return { ...sent, ...wanted[index]?.answer };
};
const place = (type: string, name: string): number =>
  wanted.findIndex((one) => one.type === type && one.name === name);
/** The id of the record of that type and name. */
const id = (type: string, name: string): string => ids[place(type, name)] ?? assert.fail(`no ${type} ${name}`);

async function all(query: List = {}): Promise<Response[]> {
  const found: Response[] = [];
  for await (const record of records.list({ zone_id: zone(), ...query })) found.push(record);
  return found;
}
const names = async (query: List): Promise<string[]> =>
  (await all(query)).map((record) => `${record.type} ${record.name}`).sort();

async function create(): Promise<void> {
  for (const index of wanted.keys()) {
    const record = await records.create(body(index));
    holds(record, expected(index));
    assert.ok(Date.parse(record.created_on) > 0);
    ids.push(record.id);
  }
  assert.equal(new Set(wanted.map((one) => one.type)).size, 21);
  const usage = await cloudflare.dns.usage.zone.get({ zone_id: zone() });
  assert.equal(usage.record_usage, wanted.length);
}

async function paged(): Promise<void> {
  const found: string[] = [];
  let page = await records.list({ zone_id: zone(), per_page: 5 });
  const first = page.result_info as { page: number; per_page: number; total_count: number; total_pages: number };
  holds(first, { page: 1, per_page: 5, total_count: wanted.length, total_pages: Math.ceil(wanted.length / 5) });
  for (;;) {
    assert.ok(page.result.length <= 5);
    found.push(...page.result.map((record) => record.id));
    if (!page.hasNextPage()) break;
    page = await page.getNextPage();
  }
  assert.deepEqual([...found].sort(), [...ids].sort());
}

async function filtered(): Promise<void> {
  const at = (type: string, name: string): string => `${type} ${full(name)}`;
  assert.deepEqual(await names({ type: 'MX' }), [at('MX', '@')]);
  assert.deepEqual(await names({ name: { exact: full('sub') } }), [at('DS', 'sub'), at('NS', 'sub')]);
  assert.deepEqual(await names({ name: { exact: full('sub') }, type: 'DS' }), [at('DS', 'sub')]);
  assert.deepEqual(await names({ name: { startswith: 'PROXI' } }), [at('A', 'proxied')]);
  assert.deepEqual(await names({ name: { contains: '_sip._tcp' } }), [at('SRV', '_sip._tcp')]);
  assert.deepEqual(await names({ name: { endswith: full('alias') } }), [at('CNAME', 'alias')]);
  assert.deepEqual(await names({ content: { exact: '192.0.2.10' } }), [at('A', '@')]);
  assert.deepEqual(await names({ content: { startswith: '192.0.2.' } }), [at('A', '@'), at('A', 'proxied')].sort());
  assert.deepEqual(await names({ proxied: true }), [at('A', 'proxied')]);
  assert.deepEqual(await names({ comment: { present: '' } }), [at('AAAA', 'www'), at('TXT', '@')].sort());
  assert.deepEqual(await names({ comment: { contains: 'mail' } }), [at('TXT', '@')]);
  assert.equal((await all({ comment: { absent: '' } })).length, wanted.length - 2);
  assert.deepEqual(await names({ match: 'any', type: 'PTR', proxied: true }), [at('A', 'proxied'), at('PTR', '10')].sort());
  assert.deepEqual(await names({ search: 'mail.example.net' }), [at('MX', '@')]);
}

async function sorted(): Promise<void> {
  const listed = (await all({ order: 'name', direction: 'desc' })).map((record) => record.name);
  assert.deepEqual(listed, [...listed].sort().reverse());
  const ttls = (await all({ order: 'ttl', direction: 'asc' })).map((record) => record.ttl);
  assert.deepEqual(ttls, [...ttls].sort((a, b) => a - b));
}

async function patched(): Promise<void> {
  const www = id('AAAA', 'www');
  const change = { zone_id: zone(), type: 'AAAA', name: full('www'), ttl: 600, comment: 'Patched' } as const;
  const record = await records.edit(www, change);
  holds(record, { id: www, type: 'AAAA', content: '2001:db8::10', ttl: 600, comment: 'Patched' });
  assert.ok(Date.parse(record.modified_on) >= Date.parse(record.created_on));
  holds(await records.get(www, { zone_id: zone() }), { ttl: 600, comment: 'Patched' });
}

async function overwritten(): Promise<void> {
  const www = id('AAAA', 'www');
  const sent = { zone_id: zone(), type: 'AAAA', name: full('www'), content: '2001:db8::11', ttl: 1 } as const;
  holds(await records.update(www, sent), { id: www, content: '2001:db8::11', ttl: 1, comment: null });
}

async function batched(): Promise<void> {
  const answer = await records.batch({
    zone_id: zone(),
    deletes: [{ id: id('PTR', '10') }],
    patches: [{ id: id('A', '@'), ttl: 120 }],
    puts: [{ id: id('TXT', '@'), type: 'TXT', name: zoneName, content: '"v=spf1 ~all"', ttl: 1 }],
    posts: [
      { type: 'A', name: full('batch'), content: '192.0.2.20', ttl: 1 },
      { type: 'PTR', name: full('10'), content: 'again.example.net', ttl: 1 },
    ],
  } as Batch);
  assert.equal(answer.deletes?.[0]?.id, id('PTR', '10'));
  holds(answer.patches?.[0] ?? {}, { id: id('A', '@'), ttl: 120, content: '192.0.2.10' });
  holds(answer.puts?.[0] ?? {}, { id: id('TXT', '@'), content: '"v=spf1 ~all"', comment: null });
  assert.deepEqual(answer.posts?.map((record) => record.content), ['192.0.2.20', 'again.example.net']);
  assert.equal((await all()).length, wanted.length + 1);
}

async function refusedBatch(): Promise<void> {
  const before = (await all()).map((record) => record.id).sort();
  const posts = [
    { type: 'A', name: full('fine'), content: '192.0.2.30', ttl: 1 },
    { type: 'A', name: full('wrong'), content: 'no address', ttl: 1 },
  ] as const;
  await assert.rejects(
    records.batch({ zone_id: zone(), deletes: [{ id: id('MX', '@') }], posts: [...posts] }),
    (error) => error instanceof Cloudflare.BadRequestError && error.errors[0]?.code === 9005,
  );
  assert.deepEqual((await all()).map((record) => record.id).sort(), before);
}

async function tagged(): Promise<void> {
  const tags = ['team:dns', 'witness'];
  const sent = { zone_id: zone(), type: 'A', name: full('tagged'), content: '192.0.2.40', ttl: 1, tags } as const;
  await plan('free');
  await assert.rejects(records.create({ ...sent }), Cloudflare.BadRequestError);
  await plan('pro');
  const record = await records.create({ ...sent });
  assert.deepEqual(record.tags, tags);
  assert.ok(Date.parse(record.tags_modified_on ?? '') > 0);
  assert.deepEqual(await names({ tag: { exact: 'team:dns' } }), [`A ${full('tagged')}`]);
  assert.deepEqual(await names({ tag: { present: 'witness' }, tag_match: 'any' }), [`A ${full('tagged')}`]);
  assert.deepEqual(await names({ tag: { exact: 'team:web' } }), []);
  await records.delete(record.id, { zone_id: zone() });
  await plan('free');
}

async function zoneFile(): Promise<void> {
  const text = await records.export({ zone_id: zone() });
  const mx = text.split('\n').find((line) => line.includes('\tMX\t'));
  assert.equal(mx, `${zoneName}.\t1\tIN\tMX\t10 mail.example.net.`);
  const before = (await all()).length;
  const file = `imported.${zoneName}. 300 IN A 192.0.2.50\n`;
  const { recs_added, total_records_parsed } = await records.import({ zone_id: zone(), file });
  assert.deepEqual([recs_added, total_records_parsed], [1, 1]);
  assert.equal((await all()).length, before + 1);
  assert.deepEqual(await names({ content: { exact: '192.0.2.50' } }), [`A ${full('imported')}`]);
}

export async function begin(): Promise<void> {
  await situation('records of all types are created', create);
  await situation('records are read', async () => {
    for (const index of wanted.keys()) {
      holds(await records.get(ids[index] ?? '', { zone_id: zone() }), expected(index));
    }
  });
  await situation('records are listed page by page', paged);
  await situation('records are filtered', filtered);
  await situation('records are sorted', sorted);
  await situation('a record is patched', patched);
  await situation('a record is overwritten', overwritten);
  await situation('a batch deletes, patches, overwrites and creates', batched);
  await situation('a refused batch changes nothing', refusedBatch);
  await situation('tags are refused on a free zone and kept on a paid one', tagged);
  await situation('the zone file is exported and imported', zoneFile);
}

export async function end(): Promise<void> {
  await situation('a batch deletes every record', async () => {
    const deletes = (await all()).map((record) => ({ id: record.id }));
    assert.ok(deletes.length > wanted.length);
    const answer = await records.batch({ zone_id: zone(), deletes });
    assert.equal(answer.deletes?.length, deletes.length);
    assert.deepEqual(await all(), []);
  });
}
