// The same tests without the change: from the record, or by running them beside the working tree.

import { existsSync, symlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Attempt, attempt, type Bench } from './attempt.ts';
import { type Folder, under } from './folder.ts';
import type { Failure } from './outcome-types.ts';
import { capture } from './run-capture.ts';
import type { PastRun } from './seams.ts';
import { commandFor } from './select.ts';

export type Before = 'passed' | 'failed' | 'unknown';

/** Names agree whatever joins their parts. */
function sameTest(one: string | null, other: string | null): boolean {
  const key = (name: string | null) => (name ?? '').replace(/[^\p{L}\p{N}]+/gu, ' ').trim();
  return one !== null && other !== null && key(one) === key(other);
}

/** What the record says of FAILURE at the state without the change. The newest run that covers it decides. */
export function beforeByRecord(
  failure: Failure,
  plan: Attempt['plan'],
  runs: readonly PastRun[],
  file: string | undefined,
): Before {
  for (const run of runs) {
    if (run.runner !== plan.runner || run.cwd !== plan.cwd) continue;
    const failed = run.failures.some(
      (past) =>
        sameTest(past.test, failure.test) ||
        (failure.test === null && past.test === null && past.path === failure.path),
    );
    if (failed) return 'failed';
    const covers = run.scope === 'full' || (file !== undefined && run.files.includes(file));
    if (covers && (run.verdict === 'passed' || run.verdict === 'failed')) return 'passed';
  }
  return 'unknown';
}

/** Folders of dependencies that git does not keep: the worktree uses the ones that are there. */
const SHARED_FOLDERS = [
  'node_modules',
  '.venv',
  'venv',
  'vendor',
  'deps',
  '_build',
  '.yarn',
  '.pnp.cjs',
  '.pnp.loader.mjs',
  '.env',
];

/**
 * Runs the attempt's own command in a separate git worktree at HEAD, with DIFF taken back where HEAD already has it.
 * undefined where git cannot make one.
 */
export async function runWithoutChange(
  bench: Bench,
  one: Attempt,
  diff: string | undefined,
  folder: Folder,
): Promise<Attempt | undefined> {
  const parent = await mkdtemp(join(bench.spool, 'without-'));
  const tree = join(parent, 'tree');
  try {
    if (
      (await capture('git', ['worktree', 'add', '--detach', '--quiet', tree, 'HEAD'], { cwd: bench.root })) ===
      undefined
    )
      return undefined;
    const prefix = (await capture('git', ['rev-parse', '--show-prefix'], { cwd: bench.root }))?.trim() ?? '';
    const root = join(tree, prefix);
    if (diff !== undefined && diff.trim() !== '')
      await capture('git', ['apply', '--reverse', '--whitespace=nowarn', '-'], { cwd: root, input: diff });
    for (const folder of new Set(['', one.plan.cwd])) {
      for (const name of SHARED_FOLDERS) {
        const path = under(folder, name);
        if (existsSync(join(bench.root, path)) && !existsSync(join(root, path)) && existsSync(join(root, folder)))
          symlinkSync(join(bench.root, path), join(root, path));
      }
    }
    await shareSubmodules(bench.root, root);
    const tests = one.tests.filter(({ path }) => existsSync(join(root, path)));
    // A runner that is told to run a file that is not there may run none.
    const command = tests.length === one.tests.length ? one.command : commandFor(one.plan, tests, folder);
    return command && (await attempt(bench, one.plan, command, one.scope, tests, root));
  } finally {
    const removed = await capture('git', ['worktree', 'remove', '--force', tree], { cwd: bench.root });
    await rm(parent, { recursive: true, force: true });
    // git keeps a name for a folder that it did not remove itself.
    if (removed === undefined) await capture('git', ['worktree', 'prune'], { cwd: bench.root });
  }
}

/** A new worktree has the folders of submodules empty: it uses the ones that are there. */
async function shareSubmodules(from: string, to: string): Promise<void> {
  if (!existsSync(join(to, '.gitmodules'))) return;
  const listed = await capture('git', ['config', '-z', '-f', '.gitmodules', '--get-regexp', '\\.path$'], { cwd: to });
  for (const entry of (listed ?? '').split('\0')) {
    const path = entry.slice(entry.indexOf('\n') + 1);
    if (path === '' || !existsSync(join(from, path, '.git'))) continue;
    await rm(join(to, path), { recursive: true, force: true });
    symlinkSync(join(from, path), join(to, path));
  }
}

/** What a run without the change says of FAILURE, a test of FILE. A file that did not load there says nothing of its tests. */
export function beforeByRun(failure: Failure, without: Attempt | undefined, file: string | undefined): Before {
  if (!without) return 'unknown';
  const { failures, verdict } = without.outcome;
  if (
    failures.some((past) => sameTest(past.test, failure.test) || (failure.test === null && past.path === failure.path))
  )
    return 'failed';
  if (failures.some((past) => (past.test === null || past.suite) && (past.path === null || past.path === file)))
    return 'unknown';
  return ['passed', 'failed'].includes(verdict) ? 'passed' : 'unknown';
}
