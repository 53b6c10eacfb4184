// Which of the ranked tests a command is made of.

import type { AffectedTest } from '../channel/messages.generated.ts';
import type { TestChoice } from './plan.ts';

/** A command with more files than this says less than the full suite would. */
const MOST_FILES = 12;

/** Below this share of the best score a test is listed but not asked to run: half of it is noise in eval/impact. */
const LEAST_SHARE = 0.2;

/** The tests worth running first, best first. */
export function tellingTests(tests: readonly AffectedTest[]): TestChoice[] {
  const best = tests[0]?.score ?? 0;
  return tests
    .filter(({ score }) => score >= best * LEAST_SHARE)
    .slice(0, MOST_FILES)
    .map(({ path, names }) => ({ path, names }));
}
