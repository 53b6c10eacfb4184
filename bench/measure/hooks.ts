// What the hooks add to a step of a session: each hook called as OpenCode calls it, over a repository of 5,000 files and a real sidecar.
//   npx tsx bench/measure/hooks.ts [FILES] [ROUNDS]
// Prints one JSON object: milliseconds, median and 95th percentile, by hook; how many turns got their list in time; and the processor time of the sidecar
// for a turn, its look beside and its edit, and tables made anew included. On a busy machine wall time says little: `list, processor` is what host and sidecar
// spend between the turn and its list; OPL_AUTO_CONTEXT_MS=5000 lets every turn have one. The bar: a step at most 5 ms median, the list of a turn at most 30.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { autoContext } from '../../plugin/hooks/auto-context.ts';
import { compaction } from '../../plugin/hooks/compaction.ts';
import { composeHooks } from '../../plugin/hooks/compose.ts';
import { freshness } from '../../plugin/hooks/freshness.ts';
import { handover } from '../../plugin/hooks/handover.ts';
import { journalOf } from '../../plugin/hooks/journal.ts';
import { observation } from '../../plugin/hooks/observation.ts';
import { systemNote } from '../../plugin/hooks/system-note.ts';
import { createHost } from '../../plugin/host.ts';
import { writeFiles } from '../../test/scratch.ts';
import { chainedFiles } from './repositories.ts';

const FILES = Number(process.argv[2] ?? 5000);
const ROUNDS = Number(process.argv[3] ?? 100);

/** Between a turn's last edit and the next turn: no one reads an answer and types in less. */
const PAUSE_MILLISECONDS = 1000;

/** OpenCode 1.18 itself works between chat.message and its request's messages: 24 to 33 ms in ten turns of the real binary. */
const HOST_MILLISECONDS = 24;

/** Processor time of the process PID so far, in milliseconds, as Linux counts it by thread; nothing elsewhere. */
function processorTime(pid: number): number {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    const time = (task: string) => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
    return tasks.reduce((sum, task) => sum + time(task), 0) / 1e6;
  } catch {
    return Number.NaN;
  }
}

const times = new Map<string, number[]>([['list, processor', []]]);

async function timed(name: string, work: () => unknown): Promise<void> {
  const start = performance.now();
  await work();
  times.set(name, [...(times.get(name) ?? []), performance.now() - start]);
}

// biome-ignore lint/suspicious/noExplicitAny: hooks are called as the host calls them, by name
type AnyHook = (...values: any[]) => Promise<void>;

const folder = mkdtempSync(path.join(tmpdir(), 'opl-hooks-'));
try {
  writeFiles(folder, chainedFiles(FILES));
  const said: string[] = [];
  const host = createHost(folder, {}, (text) => said.push(text));
  const sidecar = await host.sidecar();
  await sidecar.call('index', { rebuild: false });
  const hooks = composeHooks(host, {} as never, [observation, freshness, compaction, handover, systemNote]) as Record<
    string,
    AnyHook
  >;
  const lists = composeHooks(host, {} as never, [autoContext]) as Record<string, AnyHook>;
  const model = { id: 'model', providerID: 'scripted', limit: { context: 200_000, output: 8192 } };
  const { pid } = await sidecar.describe();
  await new Promise((resolve) => setTimeout(resolve, 3 * PAUSE_MILLISECONDS));
  const before = processorTime(pid);
  let listed = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const sessionID = `ses_${round % 10}`;
    const file = path.join(folder, `part${round % 100}`, `module${round}.py`);
    const parts: object[] = [
      { id: 'prt_22d41170a00161i7qng1Vh9ULk', type: 'text', text: `where does handle${round} call its step and why` },
    ];
    await timed('chat.message', () => hooks['chat.message']!({ sessionID }, { message: { id: 'msg_1' }, parts }));
    const begun = processorTime(pid) + processorTime(process.pid);
    const messages = [{ info: { id: 'msg_1', sessionID: `turn_${round}`, role: 'user' }, parts }];
    let spent = 0;
    const asked = performance.now();
    await lists['chat.message']!({ sessionID: `turn_${round}` }, { message: { id: 'msg_1' }, parts });
    spent += performance.now() - asked;
    await new Promise((resolve) => setTimeout(resolve, HOST_MILLISECONDS));
    const taken = performance.now();
    await lists['experimental.chat.messages.transform']!({}, { messages });
    spent += performance.now() - taken;
    times.set('list of a turn', [...(times.get('list of a turn') ?? []), spent]);
    times.get('list, processor')!.push(processorTime(pid) + processorTime(process.pid) - begun);
    listed += parts.length > 1 ? 1 : 0;
    const content = `def handle${round}(value):\n    return ${round}\n`;
    writeFileSync(file, content);
    const history = Array.from({ length: 60 }, (_, one) => ({
      info: {
        id: `msg_${one}`,
        sessionID,
        role: one % 2 ? 'assistant' : 'user',
        time: { created: one },
        tokens: { input: one * 1000, output: 10 },
      },
      parts: [{ type: 'text', text: 'some words of a turn '.repeat(50) }],
    }));
    await timed('step', async () => {
      await hooks['experimental.chat.messages.transform']!({}, { messages: history });
      await hooks['experimental.chat.system.transform']!({ sessionID }, { system: ['You are an agent.'] });
      await hooks['chat.params']!({ sessionID, model }, {});
      await hooks['tool.execute.before']!({ tool: 'write', sessionID }, { args: {} });
      await hooks['tool.execute.after']!(
        { tool: 'write', sessionID, args: { filePath: file, content } },
        { output: 'written', metadata: { exists: true } },
      );
    });
    await journalOf(host).flush(5000);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS));
  }
  const sidecarMilliseconds = Math.round((processorTime(pid) - before) / ROUNDS);
  const output = { context: [] };
  await timed('compaction', () => hooks['experimental.session.compacting']!({ sessionID: 'ses_0' }, output));
  await host.dispose();
  const rows = [...times].map(([name, all]) => {
    const sorted = all.sort((a, b) => a - b);
    const at = (share: number) =>
      Number(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(2));
    return [name, { median: at(0.5), p95: at(0.95), rounds: sorted.length }];
  });
  console.log(JSON.stringify({ files: FILES, listed, sidecarMilliseconds, ...Object.fromEntries(rows) }));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
