// The same tests without the change: from the record, or by running them beside the working tree.

import { existsSync, symlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Attempt, attempt, type Bench } from './attempt.ts';
import { under } from './folder.ts';
import type { Failure } from './outcome-types.ts';
import { capture } from './run-capture.ts';
import type { PastRun } from './seams.ts';

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
    return await attempt(bench, one.plan, one.command, one.scope, one.tests, root);
  } finally {
    await capture('git', ['worktree', 'remove', '--force', tree], { cwd: bench.root });
    await rm(parent, { recursive: true, force: true });
  }
}

/** What a run without the change says of FAILURE. */
export function beforeByRun(failure: Failure, without: Attempt | undefined): Before {
  if (!without) return 'unknown';
  if (
    without.outcome.failures.some(
      (past) => sameTest(past.test, failure.test) || (failure.test === null && past.path === failure.path),
    )
  )
    return 'failed';
  return ['passed', 'failed'].includes(without.outcome.verdict) ? 'passed' : 'unknown';
}
