// Every hook with a sidecar that is dead, hangs, or answers nonsense: none throws, none waits for ever, and OpenCode's own values stay.

import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { autoContext } from '../../plugin/hooks/auto-context.ts';
import { compaction } from '../../plugin/hooks/compaction.ts';
import { composeHooks } from '../../plugin/hooks/compose.ts';
import { freshness } from '../../plugin/hooks/freshness.ts';
import { handover } from '../../plugin/hooks/handover.ts';
import { observation } from '../../plugin/hooks/observation.ts';
import { skills } from '../../plugin/hooks/skills.ts';
import { systemNote } from '../../plugin/hooks/system-note.ts';
import type { Host } from '../../plugin/host.ts';

const never = new Promise<never>(() => {});

/** What asking the sidecar comes to. */
const FAULTS: Record<string, () => Promise<unknown>> = {
  dead: () => Promise.reject(new Error('the sidecar ended')),
  'hangs at its start': () => never,
  'hangs in a call': async () => ({ describe: async () => ({}), call: () => never }),
  'answers nothing': async () => ({ describe: async () => ({}), call: async () => undefined }),
  'answers nonsense': async () => ({
    describe: async () => 7,
    call: async () => ({ summary: 'x', fact: 3, answer: [null], 'ranked-file': [{}] }),
  }),
};

const model = { id: 'm', providerID: 'p', limit: { context: 30_000, output: 2000 } };
const message = { id: 'msg_1', role: 'user', sessionID: 's', time: { created: 1 } };

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

for (const [fault, sidecar] of Object.entries(FAULTS)) {
  test(`a sidecar that ${fault}`, async (t) => {
    // The hooks' timers keep no process alive, and nothing else is here that does.
    const awake = setInterval(() => {}, 1000);
    t.after(() => clearInterval(awake));
    const said: string[] = [];
    const host = {
      root: tmpdir(),
      log: (text: string) => said.push(text),
      sidecar,
      settings: async () => ({}),
    } as unknown as Host;
    const client = { session: { summarize: () => Promise.reject(new Error('refused')) } };
    const files = [observation, freshness, compaction, handover, autoContext, systemNote, skills];
    const hooks = composeHooks(host, { client } as never, files) as Record<
      string,
      (...values: unknown[]) => Promise<void>
    >;
    for (const [name, ...values] of calls()) await hooks[name]!(...values);
    assert.ok(said.length > 0, 'what went wrong is in the log');
  });
}
