import assert from 'node:assert/strict';
import test from 'node:test';
import { contextUsage, estimateTokens, type Message } from '../../plugin/hooks/usage.ts';

const user = (text: string, created = 1): Message => ({
  info: { role: 'user', time: { created } },
  parts: [{ type: 'text', text }],
});
const assistant = (tokens: Message['info']['tokens'], created: number, output = ''): Message => ({
  info: { role: 'assistant', time: { created }, ...(tokens ? { tokens } : {}) },
  parts: [{ type: 'tool', state: { input: { a: 1 }, output } }],
});

test('words, digits, marks and scripts without blanks', () => {
  assert.equal(estimateTokens(''), 0);
  assert.equal(estimateTokens('the quick brown fox'), 4);
  assert.equal(estimateTokens('internationalization'), 4);
  assert.equal(estimateTokens('12345'), 2);
  assert.equal(estimateTokens('f(x) { return 1; }'), 10);
  assert.equal(estimateTokens('日本語'), 3);
});

test('the provider counts what it was sent; what came since is added', () => {
  const messages = [
    user('hello'),
    assistant({ input: 1000, output: 50, cache: { read: 20 } }, 2, 'one two three'),
    user('four five', 3),
  ];
  assert.deepEqual(contextUsage(messages), { tokens: 1075, how: 'measured' });
});

test('without a count it is estimated', () => {
  assert.deepEqual(contextUsage([user('one two')], 100), { tokens: 102, how: 'estimated' });
});

test('counts from before a compaction say nothing', () => {
  const summary: Message = {
    info: { role: 'assistant', summary: true, time: { created: 5 }, tokens: { input: 90_000, output: 10 } },
    parts: [{ type: 'text', text: 'what was done' }],
  };
  const before = assistant({ input: 90_000, output: 10 }, 2);
  assert.equal(contextUsage([summary, before, user('go on', 6)]).how, 'estimated');
  assert.deepEqual(contextUsage([summary, before, user('go on', 6), assistant({ input: 500, output: 5 }, 7)]), {
    tokens: 505,
    how: 'measured',
  });
});

test('results that OpenCode has pruned count no more', () => {
  const pruned = assistant(undefined, 2, 'a b c');
  pruned.parts[0]!.state!.time = { compacted: 3 };
  assert.equal(contextUsage([pruned]).tokens, estimateTokens('{"a":1}'));
});
