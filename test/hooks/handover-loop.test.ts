// The loop guard: a context that a compaction does not make smaller is not handed over again.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { Handover } from '../../plugin/hooks/handover-session.ts';
import { noteModel, sessionState } from '../../plugin/hooks/sessions.ts';
import type { Message } from '../../plugin/hooks/usage.ts';
import type { Host } from '../../plugin/host.ts';

const FULL = 22_000;

function start(t: { after(work: () => void): void }) {
  const root = mkdtempSync(path.join(tmpdir(), 'opl-loop-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const lines: string[] = [];
  const host = {
    root,
    log: (line: string) => lines.push(line),
    settings: async () => ({}),
    sidecar: () => Promise.reject(new Error('none here')),
  } as unknown as Host;
  let compactions = 0;
  const client = {
    session: {
      summarize: async () => {
        compactions += 1;
        return {};
      },
    },
  };
  const state = sessionState(host, 's');
  state.model = { providerID: 'p', modelID: 'm', context: 30_000, output: 2000 };
  const work = new Handover(host, { client } as never);
  let clock = 1;
  /** One step whose history ends with a request that the provider counted as TOKENS, or did not count. */
  const step = async (tokens: number) => {
    clock += 1;
    const info = { id: `msg_${clock}`, sessionID: 's', time: { created: clock } };
    const messages: Message[] = [
      { info: { ...info, role: 'user' }, parts: [{ type: 'text', text: 'hello' }] },
      { info: { ...info, role: 'assistant', ...(tokens ? { tokens: { input: tokens } } : {}) }, parts: [] },
    ];
    const before = messages.length;
    await work.step('s', messages);
    return messages.length > before ? messages.at(-1)!.parts[0]!.text! : '';
  };
  return { root, host, lines, work, state, step, compactions: () => compactions };
}

test('three reminders, one compaction, and nothing more while the context stays full', async (t) => {
  const { work, step, compactions } = start(t);
  assert.equal(await step(1000), '');
  assert.match(await step(FULL), /Write the handover document/);
  for (const number of [1, 2, 3]) assert.match(await step(FULL), new RegExp(`Reminder ${number} of 3`));
  assert.equal(await step(FULL), '');
  assert.equal(compactions(), 1);
  work.compacted('s');
  for (const tokens of [0, FULL, FULL, 0, FULL]) assert.equal(await step(tokens), '');
  assert.equal(compactions(), 1);
  assert.equal(await step(1000), '');
  assert.match(await step(FULL), /Write the handover document/, 'a context that has grown again is handed over again');
});

test('a document that is there is taken, whoever wrote it', async (t) => {
  const { root, work, state, step, compactions } = start(t);
  assert.match(await step(FULL), /Write the handover document/);
  writeFileSync(path.join(root, 'HANDOVER.md'), 'Goal: to finish. '.repeat(20));
  assert.equal(await step(FULL), '');
  assert.equal(compactions(), 1);
  assert.equal(work.stage('s')!.step, 'written');
  state.compacting = true;
  assert.equal(await step(FULL), '', 'the request that sums up is left alone');
});

test('subagents are not handed over', async (t) => {
  const { state, step } = start(t);
  state.parent = 'other';
  assert.equal(await step(FULL), '');
});

test('each step says its usage: the first once the model is known, and anew when another is chosen', async (t) => {
  const { host, lines, work, state, step } = start(t);
  const model = (id: string, context: number) => ({ id, providerID: 'p', limit: { context, output: 2000 } }) as never;
  state.model = undefined;
  await step(0);
  assert.equal(lines.length, 0);
  noteModel(host, 's', model('small', 8000), 'title');
  work.logFirst('s');
  assert.equal(lines.length, 0, 'the model that makes titles is not the one that is talked to');
  noteModel(host, 's', model('m', 30_000), 'build');
  work.logFirst('s');
  work.logFirst('s');
  assert.deepEqual(lines, ['handover s: usage 1 of 30000 tokens (0.0 %) [estimated]']);
  noteModel(host, 's', model('small', 8000), 'compaction');
  await step(1000);
  assert.match(lines.at(-1)!, /usage 1000 of 30000 tokens \(3\.3 %\) \[measured\]/);
  const user = { role: 'user', id: 'u', sessionID: 's', model: { modelID: 'other' } };
  const messages: Message[] = [
    { info: user, parts: [] },
    { info: { role: 'assistant', time: { created: 1 }, tokens: { input: FULL } }, parts: [] },
  ];
  await work.step('s', messages);
  assert.equal(messages.length, 2, "the other model's limits are waited for");
  noteModel(host, 's', model('other', 200_000), 'build');
  work.logFirst('s');
  assert.match(lines.at(-1)!, /usage 22000 of 200000 tokens/);
});
