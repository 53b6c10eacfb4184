import assert from 'node:assert/strict';
import test from 'node:test';
import { contextUsage, definitionTokens, estimateTokens, type Message } from '../../plugin/hooks/usage.ts';

const user = (text: string, created = 1): Message => ({
  info: { role: 'user', time: { created } },
  parts: [{ type: 'text', text }],
});
const assistant = (tokens: Message['info']['tokens'], created: number, output = ''): Message => ({
  info: { role: 'assistant', time: { created }, ...(tokens ? { tokens } : {}) },
  parts: [{ type: 'tool', state: { input: { a: 1 }, output } }],
});

const PROSE =
  'The sidecar greets first with the protocol version, its own version and its process id. Requests are lines; fields are separated by TAB and escaped as on the wire. A reply is any number of rows, then one end.\n'.repeat(
    3,
  );
const LISP =
  '(defun fibonacci (n)\n  "The Nth number of the sequence."\n  (loop for a = 0 then b\n        and b = 1 then (+ a b)\n        repeat n\n        finally (return a)))\n'.repeat(
    3,
  );
const SCRIPT =
  "async function main() {\n  const server = createServer((request, response) => {\n    response.writeHead(200, { 'content-type': 'text/plain' });\n    response.end('hello');\n  });\n  server.listen(8080, () => {\n    console.log('listening on port 8080');\n  });\n}\n".repeat(
    3,
  );

/** Tokens in o200k_base and cl100k_base, counted once with gpt-tokenizer. */
const COUNTED = [
  { text: PROSE, tokens: [141, 141] },
  { text: LISP, tokens: [141, 141] },
  { text: PROSE + SCRIPT + LISP, tokens: [486, 480] },
];

test('the estimate is within 10 % of what tokenizers count', () => {
  assert.equal(estimateTokens(''), 0);
  assert.equal(estimateTokens('日本語'), 3);
  for (const { text, tokens } of COUNTED) {
    for (const count of tokens)
      assert.ok(Math.abs(estimateTokens(text) / count - 1) < 0.1, `${estimateTokens(text)} for ${count}`);
  }
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

test('a tool is counted with its schema, also where that is not told as JSON', () => {
  const description = 'Finds files by their names.';
  const words = estimateTokens(description);
  const fields = { pattern: {}, path: {} };
  assert.ok(definitionTokens({ description, parameters: { fields } }) > words + 80);
  assert.ok(definitionTokens({ description }) > words + 80);
  const jsonSchema = { type: 'object', properties: { pattern: { type: 'string' } } };
  const counted = definitionTokens({ description, parameters: {}, jsonSchema });
  assert.ok(counted > words && counted < words + 60, `${counted}`);
});
