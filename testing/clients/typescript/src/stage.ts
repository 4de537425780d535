// What every situation needs: the settings, the client, the sandbox's control surface, and the lines that are printed.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import Cloudflare from 'cloudflare';
import { note } from './answers.js';

const env = (name: string): string | undefined => process.env[name] || undefined;
function needed(name: string): string {
  const value = env(name);
  if (value === undefined) throw new Error(`${name} is not set; see docs/reference/witnesses.md`);
  return value;
}

export const account = needed('CLOUDFLARE_ACCOUNT_ID');
/** The throw-away zone: made here, and deleted here. */
export const zoneName = needed('WITNESS_ZONE');
/** A token that may read zones and records, and nothing else. */
export const readToken = env('WITNESS_READ_TOKEN');
/** A token that belongs to the account. */
export const ownedToken = env('WITNESS_OWNED_TOKEN');
/** Where the sandbox is commanded; none on a real account. */
export const control = env('WITNESS_CONTROL');

/** One record of the shared list. */
export interface Wanted {
  type: string;
  name: string;
  body: { [field: string]: unknown };
  answer?: { [field: string]: unknown };
}
export const wanted: Wanted[] = JSON.parse(readFileSync(needed('WITNESS_RECORDS'), 'utf8'));
export const full = (name: string): string => (name === '@' ? zoneName : `${name}.${zoneName}`);

/** Passes the answer on and remembers it, to be compared with the client's types. */
const watched: typeof fetch = async (url, init) => {
  const answer = await fetch(url, init);
  const text = await answer.text();
  note(init?.method ?? 'GET', String(url), answer, text);
  return new Response(text, answer);
};

/** Base URL and token come from CLOUDFLARE_BASE_URL and CLOUDFLARE_API_TOKEN, as the SDK's README says. */
export const cloudflare = new Cloudflare({ fetch: watched });
export const withToken = (apiToken: string): Cloudflare => new Cloudflare({ apiToken, fetch: watched });

/** Commands the sandbox. */
export async function command(method: string, path: string, body: unknown): Promise<void> {
  const answer = await fetch(`${control}${path}`, { method, body: JSON.stringify(body) });
  assert.equal(answer.status, 200, await answer.text());
}

class Skip extends Error {}
/** Leaves the situation out, and says why. */
export function skip(why: string): never {
  throw new Skip(why);
}

/** After Ctrl-C nothing is done any more but cleaning up. */
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => (interrupted = true));

const counts = { ok: 0, failed: 0, skipped: 0 };
export async function situation(name: string, check: () => Promise<void>, cleansUp = false): Promise<void> {
  try {
    if (interrupted && !cleansUp) skip('interrupted');
    await check();
    counts.ok += 1;
    console.log(`ok     ${name}`);
  } catch (error) {
    if (error instanceof Skip) {
      counts.skipped += 1;
      console.log(`skip   ${name}: ${error.message}`);
    } else {
      counts.failed += 1;
      console.log(`FAILED ${name}: ${error instanceof Error ? error.message : error}`);
    }
  }
}

/** Prints the count; true when nothing failed. */
export function close(): boolean {
  console.log(`typescript: ${counts.ok} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  return counts.failed === 0 && !interrupted;
}

/** Every field of `expected` stands in `got`, objects compared whole. */
export function holds(got: object, expected: { [field: string]: unknown }): void {
  for (const [field, value] of Object.entries(expected)) {
    assert.deepEqual((got as { [field: string]: unknown })[field], value, field);
  }
}
