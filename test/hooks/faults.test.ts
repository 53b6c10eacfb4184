// Every hook with a sidecar that is dead, slow or wrong, each a real program: none throws, none waits for ever, and OpenCode's own values stay.

import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { autoContext } from '../../plugin/hooks/auto-context.ts';
import { compaction } from '../../plugin/hooks/compaction.ts';
import { composeHooks } from '../../plugin/hooks/compose.ts';
import { freshness } from '../../plugin/hooks/freshness.ts';
import { handover } from '../../plugin/hooks/handover.ts';
import { observation } from '../../plugin/hooks/observation.ts';
import { skills } from '../../plugin/hooks/skills.ts';
import { systemNote } from '../../plugin/hooks/system-note.ts';
import type { Host } from '../../plugin/host.ts';
import { readSettings } from '../../plugin/settings.ts';
import { falseSidecar } from '../false-sidecar.ts';

/** What the programs of false/sidecar.mjs do wrong. */
const FAULTS = [
  'dies before it greets',
  'never greets',
  'never opens its root',
  'never answers',
  'is slow',
  'answers without a row',
  'answers with rows of other fields',
  'answers somebody else',
  'says that it has a fault',
  'is killed in mid call',
];

/** A host over a sidecar with FAULT; what it logs goes to SAID. */
function hostWith(t: TestContext, fault: string, said: string[]): Host {
  const log = (text: string) => void said.push(text);
  const sidecar = falseSidecar(t, [path.join(import.meta.dirname, 'false/sidecar.mjs'), fault], log, 3000);
  const { root } = sidecar.options;
  const settings = async () => readSettings({ cacheFolder: root });
  return { root, log, settings, sidecar: async () => sidecar, dispose: async () => sidecar.stop() };
}

const model = { id: 'm', providerID: 'p', limit: { context: 30_000, output: 2000 } };
const message = { id: 'msg_1', role: 'user', sessionID: 's', time: { created: 1 } };

/** What OpenCode gave the hook NAME is still there: hooks may add to the end of lists and texts, and to nothing else. */
function assertKept(name: string, after: unknown, before: unknown): void {
  if (Array.isArray(before)) {
    assert.ok(Array.isArray(after) && after.length >= before.length, name);
    for (const [index, value] of before.entries()) assertKept(name, after[index], value);
  } else if (before !== null && typeof before === 'object') {
    for (const [key, value] of Object.entries(before)) assertKept(name, (after as Record<string, unknown>)[key], value);
  } else if (typeof before === 'string') assert.ok(String(after).startsWith(before), name);
  else assert.deepEqual(after, before, name);
}

/** A session in the order of OpenCode's calls, near the end of its context. */
function calls() {
  const user = [{ id: 'prt_22d41170a00161i7qng1Vh9ULk', type: 'text', text: 'where are routes matched in here' }];
  const counted = {
    info: { ...message, role: 'assistant', tokens: { input: 22_000, output: 1 }, time: { created: 2 } },
    parts: [],
  };
  return [
    ['config', {}],
    ['event', { event: { type: 'session.created', properties: { info: { id: 's' } } } }],
    ['chat.message', { sessionID: 's' }, { message, parts: user }],
    ['tool.definition', { toolID: 'read' }, { description: 'Reads.', parameters: {} }],
    ['chat.params', { sessionID: 's', model }, { options: {} }],
    ['experimental.chat.messages.transform', {}, { messages: [{ info: message, parts: user }, counted] }],
    ['experimental.chat.system.transform', { sessionID: 's' }, { system: ['You are an agent.'] }],
    ['tool.execute.before', { tool: 'lisp_eval', sessionID: 's', callID: 'c' }, { args: {} }],
    [
      'tool.execute.after',
      { tool: 'bash', sessionID: 's', args: { command: 'ls' } },
      { output: 'x', metadata: { exit: 0 } },
    ],
    ['command.execute.before', { command: 'handover', sessionID: 's', arguments: '' }, { parts: [] }],
    ['experimental.text.complete', { sessionID: 's' }, { text: 'We chose x.' }],
    ['experimental.session.compacting', { sessionID: 's' }, { context: [] }],
    ['event', { event: { type: 'session.compacted', properties: { sessionID: 's' } } }],
    ['dispose'],
  ] as [string, ...unknown[]][];
}

describe('a sidecar that', { concurrency: 4 }, () => {
  for (const fault of FAULTS) {
    // What hangs must not hang the run.
    test(fault, { timeout: 150_000 }, async (t) => {
      // The hooks' timers keep no process alive, and nothing else is here that does.
      const awake = setInterval(() => {}, 1000);
      t.after(() => clearInterval(awake));
      const said: string[] = [];
      const host = hostWith(t, fault, said);
      const client = { session: { summarize: () => Promise.reject(new Error('refused')) } };
      const files = [observation, freshness, compaction, handover, autoContext, systemNote, skills];
      const hooks = composeHooks(host, { client } as never, files) as Record<
        string,
        (...values: unknown[]) => Promise<void>
      >;
      const session = calls();
      const before = structuredClone(session);
      for (const [name, ...values] of session) await hooks[name]!(...values);
      assert.ok(said.length > 0, 'what went wrong is in the log');
      for (const [index, [name, ...values]] of session.entries()) assertKept(name, values, before[index]!.slice(1));
    });
  }
});
