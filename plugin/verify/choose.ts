// Which tests tell soonest about a change, and why everything has to run where they cannot.

import type { Change } from './changes.ts';
import type { Detected } from './detect.ts';
import { isTestPath, onlyDocuments, outsideOf } from './outside.ts';
import type { TestChoice } from './plan.ts';
import type { Affected, Seams } from './seams.ts';

export interface Choice {
  /** Most telling first; empty: the full suite. */
  readonly tests: readonly TestChoice[];
  readonly notes: readonly string[];
  readonly roots: readonly string[];
}

/** Past so many files the full suite is as quick, and its answer whole. */
const MOST_TEST_FILES = 40;
/** Guesses are only run beside tests that are known to be reached. */
const MOST_POSSIBLE = 10;
/** A first index of a large repository takes longer; the full suite then starts at once. */
const PATIENCE_MILLISECONDS = 15_000;
/** Outside changes named in a note. */
const NAMED = 3;

/** Previously failing tests, then changed tests, then those the sidecar says exercise the change. */
export async function chooseTests(
  seams: Seams,
  detected: Detected,
  change: Change,
  diff: string | undefined,
): Promise<Choice> {
  if (change.paths.length === 0)
    return { tests: [], roots: [], notes: [`nothing changed (${change.from}): the full suite`] };
  const outside = outsideOf(change.paths);
  if (outside.length > 0) {
    const named = outside.slice(0, NAMED).map(({ path, why }) => `${path} (${why})`);
    const more = outside.length > NAMED ? ` and ${outside.length - NAMED} more` : '';
    return {
      tests: [],
      roots: [],
      notes: [`the full suite at once, since no graph follows ${named.join(', ')}${more}`],
    };
  }
  const [affected, failing] = await Promise.all([inTime(seams.affected(diff)), inTime(seams.stillFailing())]);
  const roots = affected?.roots ?? [];
  if (affected && affected.fullSuite.length > 0)
    return {
      tests: [],
      roots,
      notes: affected.fullSuite.slice(0, NAMED).map((why) => `the full suite at once: ${why}`),
    };
  const chosen = new Map<string, TestChoice>();
  const add = (test: TestChoice): void => {
    if (!chosen.has(test.path) && detected.folder.has(test.path)) chosen.set(test.path, test);
  };
  for (const { path } of failing ?? []) if (path !== null && isTestPath(path)) add({ path });
  for (const path of change.paths) if (isTestPath(path)) add({ path });
  for (const test of ranked(affected)) add(test);
  const notes = [
    ...(affected === undefined
      ? ['which tests exercise the change is not known (no index): changed tests only, then the full suite']
      : affected.complete
        ? []
        : affected.incomplete),
  ];
  if (onlyDocuments(change.paths)) notes.push('only documents changed');
  const tests = [...chosen.values()];
  if (tests.length <= MOST_TEST_FILES) return { tests, notes, roots };
  return {
    tests: [],
    roots,
    notes: [...notes, `${tests.length} test files exercise the change: the full suite at once`],
  };
}

/** Whole files: a name that the graph has need not be the one the runner goes by. */
function ranked(affected: Affected | undefined): readonly TestChoice[] {
  const tests = affected?.tests ?? [];
  const sure = tests.filter(({ certainty }) => certainty !== 'possible');
  return [...sure, ...tests.filter(({ certainty }) => certainty === 'possible').slice(0, MOST_POSSIBLE)].map(
    ({ path }) => ({ path }),
  );
}

/** undefined where the answer fails or takes too long. */
async function inTime<T>(answer: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PATIENCE_MILLISECONDS);
  });
  try {
    return await Promise.race([answer.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}
