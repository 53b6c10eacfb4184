// What runs of the real OpenCode binary leave behind: processes whose environment carries the mark that the run was started with.

import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeProject, runOpenCode } from './opencode.ts';
import { startModel } from './scripted-model.ts';
import { FILES, SOURCES } from './served.ts';

type Ender = { after(work: () => unknown): void };

/** The command lines of living processes, zombies left out, that have MARK in their environment. Linux alone can tell. */
export function markedProcesses(mark: string): string[] {
  const found: string[] = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark)) continue;
      const state = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.[0];
      if (state !== 'Z' && state !== 'X')
        found.push(`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')}`);
    } catch {
      // It ended meanwhile.
    }
  }
  return found;
}

/** How long what a run started may take to follow it. */
const GRACE_MILLISECONDS = 3000;

/** COUNT runs in a row, each with an edit, a search, an evaluation and a command; what is left a moment after each, and how many ended well. */
export async function runInARow(
  t: Ender,
  count: number,
  onRun: (number: number, left: number) => void = () => {},
): Promise<{ good: number; left: string[] }> {
  const model = await startModel(
    Array.from({ length: count }, (_, run) => [
      {
        tools: [
          { name: 'repo_context', args: { problem: 'where are routes matched' } },
          { name: 'bash', args: { command: 'git status --short', description: 'x' } },
        ],
      },
      {
        tools: [
          { name: 'write', args: { filePath: `src/made${run}.py`, content: `def made${run}():\n    return 1\n` } },
        ],
      },
      // The last run's evaluation is still under way when the session ends.
      {
        tools: [
          { name: 'lisp_eval', args: { code: '(progn (sb-thread:make-thread (lambda () (loop))) (index-totals))' } },
        ],
      },
      { text: 'DONE' },
    ]).flat(),
  );
  t.after(() => model.close());
  const mark = `OPL_RUN_MARK=${randomUUID()}`;
  const [name, value] = mark.split('=') as [string, string];
  const project = makeProject(t as never, {
    modelUrl: model.url,
    files: FILES,
    plugins: SOURCES,
    env: { [name]: value },
  });
  const left: string[] = [];
  let good = 0;
  for (let run = 0; run < count; run += 1) {
    const { code, stdout } = await runOpenCode(project, 'please make another module');
    if (code === 0 && stdout.includes('DONE')) good += 1;
    for (let waited = 0; waited < GRACE_MILLISECONDS && markedProcesses(mark).length > 0; waited += 100)
      await sleep(100);
    left.push(...markedProcesses(mark));
    onRun(run + 1, left.length);
  }
  return { good, left };
}
