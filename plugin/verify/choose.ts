// Which tests tell soonest about a change, and why everything has to run where they cannot.

import type { Change } from './changes.ts';
import type { Detected } from './detect.ts';
import { holdsTests, isTestPath, type Outside, onlyDocuments, outsideOf } from './outside.ts';
import type { TestChoice } from './plan.ts';
import type { Affected, PastFailure, Seams } from './seams.ts';

export interface Choice {
  /** What is run before the full suite, most telling first. */
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

/** What the tests are chosen for. */
export interface Asked {
  readonly change: Change;
  readonly diff: string;
  /** The diff was given; else it is the working tree against HEAD. */
  readonly given: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Previously failing tests, then changed tests, then those the sidecar says exercise the change. */
export async function chooseTests(seams: Seams, detected: Detected, asked: Asked): Promise<Choice> {
  const { change, signal } = asked;
  const record = inTime(seams.stillFailing(), signal).then((failing) => failedLast(failing ?? [], detected));
  const outside = outsideOf(change.paths);
  if (change.paths.length === 0 || outside.length > 0)
    return { tests: await record, roots: [], notes: [whyEverything(change, outside)] };
  const [affected, failing] = await Promise.all([inTime(seams.affected(asked), signal), record]);
  const roots = affected?.roots ?? [];
  const changed = change.paths.filter(isTestPath).map((path) => ({ path }));
  if (affected && affected.fullSuite.length > 0)
    return {
      tests: failing,
      roots,
      notes: affected.fullSuite.slice(0, NAMED).map((why) => `the full suite tells: ${why}`),
    };
  const tests = distinct([...failing, ...changed, ...ranked(affected)], detected);
  const notes = [
    ...(affected === undefined
      ? ['which tests exercise the change is not known (no index): changed tests only, then the full suite']
      : affected.complete
        ? []
        : affected.incomplete),
  ];
  if (onlyDocuments(change.paths)) notes.push('only documents changed');
  if (tests.length <= MOST_TEST_FILES) return { tests, notes, roots };
  const first = distinct([...failing, ...changed], detected);
  return {
    tests: first.length <= MOST_TEST_FILES ? first : failing,
    roots,
    notes: [...notes, `${tests.length} test files exercise the change: the full suite tells`],
  };
}

function whyEverything(change: Change, outside: readonly Outside[]): string {
  if (outside.length === 0) return `nothing changed (${change.from}): the full suite`;
  const named = outside.slice(0, NAMED).map(({ path, why }) => `${path} (${why})`);
  const more = outside.length > NAMED ? ` and ${outside.length - NAMED} more` : '';
  return `the full suite tells, since no graph follows ${named.join(', ')}${more}`;
}

/** The first choice of each file, of those that are there. */
function distinct(tests: readonly TestChoice[], { folder }: Detected): readonly TestChoice[] {
  const chosen = new Map<string, TestChoice>();
  for (const test of tests) if (!chosen.has(test.path) && folder.has(test.path)) chosen.set(test.path, test);
  return [...chosen.values()];
}

/** Whole files; of a source that holds its own tests the names, for no runner is told to run the tests of a source. */
function failedLast(failing: readonly PastFailure[], detected: Detected): readonly TestChoice[] {
  const names = new Map<string, string[]>();
  for (const { path, test } of failing) {
    if (path === null || !holdsTests(path) || (!isTestPath(path) && test === null)) continue;
    names.set(path, [...(names.get(path) ?? []), ...(test === null ? [] : [test])]);
  }
  const tests = [...names].map(([path, all]) => (isTestPath(path) ? { path } : { path, names: all }));
  return distinct(tests, detected).slice(0, MOST_TEST_FILES);
}

/** Whole files: a name that the graph has need not be the one the runner goes by. */
function ranked(affected: Affected | undefined): readonly TestChoice[] {
  const tests = affected?.tests ?? [];
  const sure = tests.filter(({ certainty }) => certainty !== 'possible');
  return [...sure, ...tests.filter(({ certainty }) => certainty === 'possible').slice(0, MOST_POSSIBLE)].map(
    ({ path }) => ({ path }),
  );
}

/** undefined where the answer fails, takes too long, or is not waited for any more. */
async function inTime<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T | undefined> {
  let stop = (): void => {};
  const late = new Promise<undefined>((resolve) => {
    const timer = setTimeout(resolve, PATIENCE_MILLISECONDS, undefined);
    stop = () => {
      clearTimeout(timer);
      resolve(undefined);
    };
  });
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([answer.catch(() => undefined), late]);
  } finally {
    stop();
    signal?.removeEventListener('abort', stop);
  }
}
