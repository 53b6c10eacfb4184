// A shorter session of bench/measure/planted.ts: what was planted is there after a kill -9, in the summary, the handover and by recall.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plantFacts } from './planted.ts';

test('facts planted in a session that is killed are summed up, handed over and recalled', async (t) => {
  const { facts, tokens, missing } = await plantFacts(t, { each: 2, turns: 12, killed: true });
  assert.equal(facts, 8);
  assert.deepEqual(missing, []);
  assert.ok(tokens > 0 && tokens <= 1500, `${tokens} tokens`);
});
