// What a run leaves for the next one: the record, and the state of the tree that it belongs to.

import type { JudgedFailure } from './answer.ts';
import type { Attempt } from './attempt.ts';
import type { Choice } from './choose.ts';
import { testFileOf } from './judge.ts';
import { capture } from './run-capture.ts';
import type { Seams } from './seams.ts';
import type { TreeState } from './state.ts';

/** HEAD's tree, or its parent's where a diff was given that HEAD holds already (a clean tree). */
export async function baseState(
  { root, diff }: { readonly root: string; readonly diff?: string | undefined },
  { now, before }: TreeState,
): Promise<string | undefined> {
  if (diff === undefined || now !== before) return before;
  return (await capture('git', ['rev-parse', 'HEAD~1^{tree}'], { cwd: root }))?.trim() ?? before;
}

/** Records every run that came to a result, with what it teaches of the changed symbols. Older and chance failures teach nothing. */
export async function remember(
  attempts: readonly Attempt[],
  failures: readonly JudgedFailure[],
  choice: Choice,
  seams: Seams,
  { now }: TreeState,
): Promise<void> {
  if (now === undefined) return;
  for (const one of attempts) {
    const { verdict, passed, failed, skipped } = one.outcome;
    if (verdict === 'cancelled') continue;
    const blamed = failures.filter(
      ({ before, flaky, relation }) => before !== 'failed' && !flaky && relation !== 'unrelated',
    );
    const pairs = one.outcome.failures.flatMap((failure) => {
      const path = testFileOf(failure, one.tests);
      if (
        path === undefined ||
        !blamed.some(({ test, message }) => test === failure.test && message === failure.message)
      )
        return [];
      return choice.roots.map((symbol) => ({ symbol, path, test: failure.test, failed: true }));
    });
    const clean =
      verdict === 'passed'
        ? one.tests.flatMap(({ path }) => choice.roots.map((symbol) => ({ symbol, path, test: null, failed: false })))
        : [];
    await seams.record({
      tree: now,
      command: one.ran.command,
      scope: one.scope,
      cwd: one.plan.cwd,
      runner: one.plan.runner,
      verdict,
      seconds: one.run.seconds,
      files: one.tests.map(({ path }) => path),
      failures: one.outcome.failures.map((failure) => ({
        test: failure.test,
        path: testFileOf(failure, one.tests) ?? failure.path,
      })),
      passed,
      failed,
      skipped,
      learned: [...pairs, ...clean],
    });
  }
}
