// Observations on their way: in order, kept while the sidecar is down, never in the way.

import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { composeHooks } from '../../plugin/hooks/compose.ts';
import { cutAtWord } from '../../plugin/hooks/cut.ts';
import { Journal, journalOf } from '../../plugin/hooks/journal.ts';
import { observation, userText } from '../../plugin/hooks/observation.ts';
import { sessionState } from '../../plugin/hooks/sessions.ts';
import type { Host } from '../../plugin/host.ts';

interface Sent {
  kind: string;
  session: string;
  subject: string | null;
  state: string | null;
  text: string;
  parent: string | null;
}

/** A host whose sidecar answers, waits, or is down, as MODE says; a stand-in for the door, not for what is behind it. */
function makeHost(mode: { now: 'up' | 'down' | 'slow' } = { now: 'up' }) {
  const sent: Sent[] = [];
  const said: string[] = [];
  const sidecar = {
    describe: async () => ({}),
    async call(operation: string, args: Sent) {
      if (mode.now === 'down') throw new Error('the sidecar is down');
      if (mode.now === 'slow') await new Promise((resolve) => setTimeout(resolve, 60_000).unref());
      if (operation === 'observe') sent.push(args);
      return { remark: [] };
    },
  };
  const host = {
    root: tmpdir(),
    log: (text: string) => said.push(text),
    sidecar: async () => sidecar,
    settings: async () => ({}),
  };
  return { host: host as unknown as Host, sent, said };
}

test('what is recorded arrives in order', async () => {
  const { host, sent } = makeHost();
  const journal = new Journal(host);
  for (let number = 0; number < 200; number += 1) journal.record('s', { kind: 'note', text: String(number) });
  await journal.flush(5000);
  assert.deepEqual(
    sent.map(({ text }) => Number(text)),
    Array.from({ length: 200 }, (_, number) => number),
  );
});

test('while the sidecar is down observations wait, the oldest go first, and how many is said', async () => {
  const mode: { now: 'up' | 'down' } = { now: 'down' };
  const { host, sent, said } = makeHost(mode);
  const journal = new Journal(host);
  for (let number = 0; number < 1500; number += 1) journal.record('s', { kind: 'note', text: String(number) });
  await journal.flush(5000);
  assert.equal(sent.length, 0);
  mode.now = 'up';
  await journal.flush(5000);
  assert.equal(sent.length, 1000);
  assert.equal(sent[0]!.text, '500');
  assert.match(said.join('\n'), /500 observations were dropped/);
});

test('a slow sidecar holds nothing up', async () => {
  const { host } = makeHost({ now: 'slow' });
  const journal = new Journal(host);
  journal.record('s', { kind: 'note', text: 'x' });
  await journal.flush(50);
});

test('long texts are cut before they are sent', async () => {
  const { host, sent } = makeHost();
  const journal = new Journal(host);
  journal.record('s', { kind: 'note', text: 'x'.repeat(1_000_000) });
  await journal.flush(5000);
  assert.equal(sent[0]!.text.length, 20_000);
});

// biome-ignore lint/suspicious/noExplicitAny: hooks are called as the host calls them
type AnyHook = (...values: any[]) => Promise<void>;

const hooksOf = (host: Host) => composeHooks(host, {} as never, [observation]) as Record<string, AnyHook>;

test('a session as OpenCode tells it', async () => {
  const { host, sent } = makeHost();
  const hooks = hooksOf(host);
  const session = { sessionID: 's' };
  await hooks.event!({ event: { type: 'session.created', properties: { info: { id: 'child', parentID: 's' } } } });
  await hooks['chat.message']!(session, {
    message: {},
    parts: [
      { type: 'text', text: 'do it' },
      { type: 'text', text: 'added', synthetic: true },
    ],
  });
  await hooks['tool.execute.after']!(
    { ...session, tool: 'write', args: { filePath: `${tmpdir()}/a.ts`, content: 'x' } },
    { output: 'ok', metadata: {} },
  );
  await hooks['tool.execute.after']!(
    { ...session, tool: 'bash', args: { command: 'false' } },
    { output: 'one\ntwo\nthree\nfour', metadata: { exit: 1 } },
  );
  await hooks['tool.execute.after']!({ sessionID: 'child', tool: 'read', args: { filePath: 'a' } }, { output: 'text' });
  const failed = {
    type: 'message.part.updated',
    properties: {
      part: { id: 'p', type: 'tool', tool: 'edit', sessionID: 's', state: { status: 'error', error: 'no match' } },
    },
  };
  await hooks.event!({ event: failed });
  await hooks.event!({ event: failed });
  const todo = (status: string) => ({
    type: 'todo.updated',
    properties: { sessionID: 's', todos: [{ content: 'test it', status }] },
  });
  for (const status of ['pending', 'pending', 'completed']) await hooks.event!({ event: todo(status) });
  await hooks['experimental.text.complete']!(session, { text: 'We chose x.' });
  sessionState(host, 's').compacting = true;
  await hooks['experimental.text.complete']!(session, { text: 'a summary' });
  await journalOf(host).flush(5000);
  assert.deepEqual(
    sent.map(({ session, kind, subject, state, text }) => [session, kind, subject, state, text.split('\n')[0]]),
    [
      ['s', 'request', null, null, 'do it'],
      ['s', 'edit', 'a.ts', 'add', '@@ -0,0 +1,1 @@'],
      ['s', 'tool', 'bash', null, 'false (exit 1)'],
      ['s', 'output', 'false', '1', 'one'],
      ['s', 'failure', 'false', null, 'two'],
      ['child', 'tool', 'read', null, '{"filePath":"a"} -> text'],
      ['s', 'failure', 'edit', null, 'no match'],
      ['s', 'todo', 'test it', 'pending', ''],
      ['s', 'todo', 'test it', 'completed', ''],
      ['s', 'answer', null, null, 'We chose x.'],
    ],
  );
  assert.equal(sent.find(({ kind }) => kind === 'failure')!.text, 'two\nthree\nfour (exit 1)');
  assert.equal(sent.find(({ session }) => session === 'child')!.parent, 's');
});

test('payloads that are none throw nothing', async () => {
  const { host } = makeHost({ now: 'down' });
  const hooks = hooksOf(host);
  for (const hook of Object.values(hooks)) for (const value of [undefined, {}, null, 7]) await hook(value, value);
});

test("the user's own words", () => {
  assert.equal(
    userText([{ type: 'file' }, { type: 'text', text: ' a ' }, { type: 'text', text: 'b', synthetic: true }]),
    'a',
  );
});

test('of what a command printed the end is kept, of other texts the start, and no word is cut in two', async () => {
  const { host, sent } = makeHost();
  const journal = new Journal(host);
  journal.record('s', { kind: 'output', text: `${'line\n'.repeat(40_000)}3 failed, 4 passed` });
  journal.record('s', { kind: 'request', text: `start ${'x'.repeat(19_980)} token=abcdefghijklmnop and more` });
  await journal.flush(5000);
  assert.match(sent[0]!.text, /3 failed, 4 passed$/);
  assert.match(sent[1]!.text, /^start x+ $/);
  assert.equal(cutAtWord('one two three', 9), 'one two ');
  assert.equal(cutAtWord('one two three', 7), 'one two');
  assert.equal(cutAtWord('y'.repeat(2000), 1000).length, 1000);
});
