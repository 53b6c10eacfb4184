// Whose failure is it: the change's, an older one's, or chance's.

import type { JudgedFailure } from './answer.ts';
import { type Attempt, attempt, type Bench } from './attempt.ts';
import { type Before, beforeByRecord, beforeByRun, runWithoutChange } from './baseline.ts';
import type { Change } from './changes.ts';
import type { Detected } from './detect.ts';
import type { Failure } from './outcome-types.ts';
import { holdsTests, isTestPath } from './outside.ts';
import type { TestChoice } from './plan.ts';
import type { Attribution, PastRun } from './seams.ts';
import { commandFor } from './select.ts';

export interface JudgeRequest {
  readonly bench: Bench;
  readonly detected: Detected;
  readonly change: Change;
  readonly diff: string;
  /** The diff as it was given, where HEAD may have the change already. */
  readonly given: string | undefined;
  readonly pastRuns: readonly PastRun[];
  /** Run without the change where the record does not know. */
  readonly baseline: boolean;
  /** Run failing tests once more alone. */
  readonly rerun: boolean;
}

/** More failing tests than this are no chance. */
const MOST_RERUNS = 3;
/** A test of its own is run again when that takes at most as long as this, or as the run that failed. */
const RERUN_SECONDS = 60;

/** The test file of a failure: named by its own name, its place, or its frames. */
export function testFileOf(failure: Failure, tests: readonly TestChoice[]): string | undefined {
  const named = failure.test?.split('::')[0];
  if (named && /\.\w+$/.test(named) && named.includes('.py'))
    return tests.find(({ path }) => path.endsWith(named))?.path ?? named;
  if (failure.path !== null && holdsTests(failure.path)) return failure.path;
  const frame = failure.frames.find(({ path }) => isTestPath(path));
  return frame?.path ?? (tests.length === 1 ? tests[0]?.path : undefined);
}

/** The failures of an attempt with what is known of their cause, the change's own first. */
export async function judge(one: Attempt, request: JudgeRequest): Promise<readonly JudgedFailure[]> {
  const { failures } = one.outcome;
  if (failures.length === 0) return [];
  const { bench, baseline, given, diff } = request;
  const [attributions, flaky, without] = await inOrder(
    () => bench.seams.attribute(failures, diff).catch(() => undefined),
    () => (request.rerun ? passedAlone(one, request) : Promise.resolve(new Set<Failure>())),
    () => (baseline ? runWithoutChange(bench, one, given, request.detected.folder) : Promise.resolve(undefined)),
  );
  const judged = failures.map((failure): JudgedFailure => {
    const known = attributions?.find((attribution) => attribution.failure === failure);
    const { relation, why } = known && known.relation !== 'unknown' ? known : byPlace(failure, request.change);
    const before = beforeOf(failure, one, request, without);
    return { ...failure, relation, why, before, flaky: flaky.has(failure) };
  });
  const order = { changed: 0, reached: 1, unknown: 2, unrelated: 3 } as const;
  const rank = (failure: JudgedFailure): number =>
    (failure.before === 'failed' ? 20 : 0) + (failure.flaky ? 10 : 0) + order[failure.relation];
  return judged
    .map((failure, at) => ({ failure, at }))
    .sort((a, b) => rank(a.failure) - rank(b.failure) || a.at - b.at)
    .map(({ failure }) => failure);
}

/** A test of a file that is new was nowhere before the change. */
function beforeOf(
  failure: Failure,
  one: Attempt,
  { change, pastRuns }: JudgeRequest,
  without: Attempt | undefined,
): Before {
  const file = testFileOf(failure, one.tests);
  if (file !== undefined && change.added.has(file)) return 'unknown';
  const recorded = beforeByRecord(failure, one.plan, pastRuns, file);
  return recorded === 'unknown' ? beforeByRun(failure, without, file) : recorded;
}

/** One after the other: two test runs at once disturb each other. */
async function inOrder<A, B, C>(
  first: () => Promise<A>,
  second: () => Promise<B>,
  third: () => Promise<C>,
): Promise<[A, B, C]> {
  const a = await first();
  const b = await second();
  return [a, b, await third()];
}

/** Without the graph: a frame that stands on changed lines, or in a changed file. */
function byPlace(failure: Failure, change: Change): Pick<Attribution, 'relation' | 'why'> {
  const places = [...(failure.path === null ? [] : [{ path: failure.path, line: failure.line }]), ...failure.frames];
  const onLines = places.find(
    ({ path, line }) => line !== null && change.lines.get(path)?.some(([start, end]) => line >= start && line <= end),
  );
  if (onLines) return { relation: 'changed', why: `${onLines.path}:${onLines.line} is on changed lines` };
  const inFile = places.find(({ path }) => change.paths.includes(path));
  if (inFile)
    return {
      relation: 'changed',
      why: `${inFile.path}${inFile.line === null ? '' : `:${inFile.line}`} is in a changed file`,
    };
  return { relation: 'unknown', why: '' };
}

/** Failing tests that pass when each is run once more alone. */
async function passedAlone(one: Attempt, { bench, detected }: JudgeRequest): Promise<ReadonlySet<Failure>> {
  const flaky = new Set<Failure>();
  const failures = one.outcome.failures.filter(
    ({ test, category }) => test !== null && category !== 'compile' && category !== 'setup',
  );
  if (one.outcome.verdict !== 'failed' || failures.length > MOST_RERUNS || bench.signal?.aborted) return flaky;
  for (const failure of failures) {
    const path = testFileOf(failure, one.tests);
    const left = (bench.deadline - performance.now()) / 1000;
    if (path === undefined || failure.test === null || left < Math.min(RERUN_SECONDS, one.run.seconds)) continue;
    const command = commandFor(one.plan, [{ path, names: [failure.test] }], detected.folder);
    if (!command) continue;
    const again = await attempt(bench, one.plan, command, 'targeted', [{ path }]);
    if (again.outcome.verdict === 'passed') flaky.add(failure);
  }
  return flaky;
}
