import assert from 'node:assert/strict';
import test from 'node:test';
import {
  decide,
  documentTokens,
  handoverSettings,
  startTokens,
  usableTokens,
} from '../../plugin/hooks/handover-policy.ts';

const large = { context: 200_000, output: 8192 };

test('a document takes 5 % of the context, 4,096 to 32,768 tokens', () => {
  assert.equal(documentTokens(large), 10_000);
  assert.equal(documentTokens({ context: 30_000, output: 2000 }), 4096);
  assert.equal(documentTokens({ context: 2_000_000, output: 2000 }), 32_768);
});

test('it is asked for at the threshold, or earlier where it would not fit before OpenCode compacts', () => {
  assert.equal(startTokens(large, 80), 160_000);
  const tight = { context: 128_000, output: 32_000 };
  assert.equal(usableTokens(tight), 96_000);
  assert.ok(startTokens(tight, 80) + documentTokens(tight) < usableTokens(tight));
});

test('what to do', () => {
  assert.equal(decide(159_999, large, 80), 'wait');
  assert.equal(decide(160_000, large, 80), 'ask');
  assert.equal(decide(185_000, large, 80), 'compact');
  assert.equal(decide(20_000, large, 12), 'wait');
  assert.equal(decide(24_000, large, 12), 'ask');
  assert.equal(decide(1e9, { context: 0, output: 0 }, 80), 'wait');
});

test('a context without room for any document is compacted, not handed over', () => {
  const tiny = { context: 8000, output: 2000 };
  assert.equal(decide(3000, tiny, 80), 'wait');
  assert.equal(decide(6400, tiny, 80), 'compact');
});

test('settings', () => {
  assert.deepEqual(handoverSettings({}), { disabled: false, percent: 80, file: 'HANDOVER.md', log: null });
  assert.equal(handoverSettings({ OC_CTX_HANDOVER_THRESHOLD: '60' }).percent, 60);
  assert.equal(handoverSettings({ OC_CTX_HANDOVER_THRESHOLD: '0.6' }).percent, 60);
  for (const wrong of ['', 'much', '-3', '0', '500', 'NaN'])
    assert.equal(handoverSettings({ OC_CTX_HANDOVER_THRESHOLD: wrong }).percent, 80, wrong);
  assert.equal(handoverSettings({ OC_CTX_HANDOVER_DISABLED: '1' }).disabled, true);
  assert.equal(handoverSettings({ OC_CTX_HANDOVER_DISABLED: '0' }).disabled, false);
});
