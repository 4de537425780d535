// Cloudflare's TypeScript SDK as a witness: every situation of testing/clients/situations.txt, in that order.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { noted } from './answers.js';
import * as records from './records.js';
import { refusals } from './refusals.js';
import { close, control, situation } from './stage.js';
import { tunnels } from './tunnels.js';
import { differences } from './types.js';
import * as zones from './zones.js';

/** Fails unless what was found and what is noted, with `*` for any word, cover each other. */
function compare(found: string[]): void {
  const file = process.env['WITNESS_DIFFERENCES'];
  assert.ok(file, 'WITNESS_DIFFERENCES is not set');
  const notes: { what: string }[] = JSON.parse(readFileSync(file, 'utf8')).typescript;
  const patterns = notes.map(({ what }) => ({ what, is: new RegExp(`^${what.split('*').join('[^.:]+')}$`) }));
  const unknown = found.filter((one) => !patterns.some(({ is }) => is.test(one)));
  const unseen = patterns.filter(({ is }) => !found.some((one) => is.test(one))).map(({ what }) => what);
  if (control !== undefined) {
    assert.deepEqual({ unknown, unseen }, { unknown: [], unseen: [] });
    return;
  }
  // What the real API answers is right by definition: where it departs from our notes, they are wrong.
  for (const one of unknown) console.log(`differs ${one}: is not noted`);
  for (const one of unseen) console.log(`differs ${one}: is noted and did not happen`);
}

try {
  await zones.begin();
  await records.begin();
  await refusals();
  await records.end();
  await tunnels();
} finally {
  await zones.end();
}
await situation('every answer fits the types of the client', async () => compare(differences(noted)));
process.exitCode = close() ? 0 : 1;
