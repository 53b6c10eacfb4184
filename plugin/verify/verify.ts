// Did the change work? The tests that tell soonest, then the rest; one verdict, whose failures they are, and what to do.

import { actionsFor } from './actions.ts';
import type { JudgedFailure, VerifyAnswer } from './answer.ts';
import { type Attempt, type Bench, newSpool, tailOf } from './attempt.ts';
import { beforeByRecord } from './baseline.ts';
import { changeOfDiff, changeOfWorkingTree } from './changes.ts';
import { chooseTests } from './choose.ts';
import { Detected } from './detect.ts';
import { judge, testFileOf } from './judge.ts';
import { baseState, remember } from './remember.ts';
import type { RunProgress } from './run.ts';
import { type Guard, startGuard } from './run-guard.ts';
import { decisiveOf, overall, type Runs, runAll } from './schedule.ts';
import type { PastRun, Seams } from './seams.ts';
import { commandFor, fullCommand } from './select.ts';
import { type TreeState, treeState } from './state.ts';
import { showCommand } from './words.ts';

export interface VerifyRequest {
  /** The real path of the root. */
  readonly root: string;
  /** The change; undefined: the working tree against HEAD. */
  readonly diff?: string | undefined;
  readonly command?: string | undefined;
  readonly targetedOnly?: boolean | undefined;
  readonly timeoutSeconds?: number | undefined;
  /** Run the failing command without the change too, in a worktree. */
  readonly baseline?: boolean | undefined;
  /** Run a failing test once more alone; true where nothing is said. */
  readonly rerun?: boolean | undefined;
  readonly seams: Seams;
  /** Where outputs are kept. */
  readonly spoolFolder: string;
  readonly signal?: AbortSignal | undefined;
  readonly stopCommand?: string | undefined;
  readonly onProgress?: ((command: string, progress: RunProgress) => void) | undefined;
}

/** Ten minutes: longer than most suites, shorter than the patience of an agent's host. */
export const DEFAULT_TIMEOUT_SECONDS = 600;

/** Octets and lines of a log in which the cause of a failure is looked for, when the failure does not say it. */
const TELLING_END = [64_000, 2000] as const;

/** Runs and judges. Never rejects for what the project does; cancellation is a verdict. */
export async function verify(request: VerifyRequest): Promise<VerifyAnswer> {
  // Each start of a process holds this one up: those whose answer is waited for come first.
  const seams = asked(request.seams);
  const worktree = request.diff === undefined ? changeOfWorkingTree(request.root) : undefined;
  const guard = startGuard();
  try {
    return await verifyChange({ ...request, seams }, await worktree, guard);
  } finally {
    guard.dismiss();
  }
}

async function verifyChange(
  request: VerifyRequest,
  worktree: Awaited<ReturnType<typeof changeOfWorkingTree>> | undefined,
  guard: Guard,
): Promise<VerifyAnswer> {
  const { root, signal, seams } = request;
  const timeout = request.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS;
  const spool = newSpool(request.spoolFolder);
  const given = worktree === undefined;
  const change = worktree ?? changeOfDiff(root, request.diff ?? '');
  const diff = worktree?.diff ?? request.diff ?? '';
  const detected = new Detected(root, {
    changed: change.paths,
    ...(request.command === undefined ? {} : { command: request.command }),
  });
  const choice = await chooseTests(seams, detected, { change, diff, given, signal });
  const notes = [...choice.notes];
  if (given && change.paths.length === 0) notes.push('the diff given names no file: it is empty or of no known form');
  // The state is read while the tests run.
  const state = once(() => treeState(root).catch((): TreeState => ({ now: undefined, before: undefined })));
  const bench: Bench = {
    root,
    seams,
    spool,
    signal,
    stopCommand: request.stopCommand,
    onProgress: request.onProgress,
    guard,
    onStart: () => void state(),
    // What the choice of tests took, a first index or the sidecar's compilation for one, is not the tests' time.
    deadline: performance.now() + timeout * 1000,
  };
  const judging: JudgeAll = { bench, detected, change, diff, given: request.diff, request, state };
  const { attempts, cut } = await runAll(bench, detected, choice, {
    paths: change.paths,
    targetedOnly: request.targetedOnly === true,
    notes,
    older: (some) => allOlder(some, judging),
  });
  if (attempts.length === 0) return nothingToRun(root, notes, cut);
  const decisive = decisiveOf(attempts);
  const failures = await judgeAll(decisive, judging);
  await remember(attempts, failures, choice, seams, await state()).catch(() => {});
  return answerOf(attempts, decisive, failures, notes, detected, timeout, cut);
}

/** MAKE, called when the value is first wanted and not again. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The sidecar starts, and is asked for what failed last, while git is asked for the change. */
function asked(seams: Seams): Seams {
  const failing = seams.stillFailing();
  failing.catch(() => {});
  return { ...seams, stillFailing: () => failing };
}

interface JudgeAll {
  readonly bench: Bench;
  readonly detected: Detected;
  readonly change: Parameters<typeof judge>[1]['change'];
  readonly diff: string;
  readonly given: string | undefined;
  readonly request: VerifyRequest;
  readonly state: () => Promise<TreeState>;
}

/** Earlier runs of the tree as it was without the change. */
async function runsBefore({ request, state }: JudgeAll): Promise<readonly PastRun[]> {
  const base = await baseState(request, await state());
  return base === undefined ? [] : await request.seams.pastRuns(base).catch(() => []);
}

/** Whether every failing test is known to have failed before the change. */
async function allOlder(attempts: readonly Attempt[], judging: JudgeAll): Promise<boolean> {
  const runs = await runsBefore(judging);
  const failing = attempts.filter(({ outcome }) => outcome.verdict !== 'passed');
  return failing.every(
    ({ outcome: { failures }, plan, tests }) =>
      failures.length > 0 &&
      failures.every((failure) => beforeByRecord(failure, plan, runs, testFileOf(failure, tests)) === 'failed'),
  );
}

async function judgeAll(attempts: readonly Attempt[], judging: JudgeAll): Promise<readonly JudgedFailure[]> {
  if (attempts.every(({ outcome }) => outcome.failures.length === 0)) return [];
  const { request } = judging;
  const pastRuns = await runsBefore(judging);
  const judged: JudgedFailure[] = [];
  for (const one of attempts)
    judged.push(
      ...(await judge(one, {
        ...judging,
        pastRuns,
        baseline: request.baseline === true,
        rerun: request.rerun !== false,
      })),
    );
  return judged;
}

function nothingToRun(root: string, notes: readonly string[], cut: Runs['cut']): VerifyAnswer {
  const nothing = { ran: [], failures: [], tail: null, log: null };
  if (cut !== undefined) return { ...nothing, verdict: cut, actions: [], notes };
  return {
    ...nothing,
    verdict: 'no-tests-ran',
    notes: [...notes, `nothing was run in ${root}`],
    actions: ['give the command that runs the tests: opl verify --command "…" (test_command in OpenCode)'],
  };
}

function answerOf(
  attempts: readonly Attempt[],
  decisive: readonly Attempt[],
  failures: readonly JudgedFailure[],
  notes: readonly string[],
  detected: Detected,
  timeoutSeconds: number,
  cut: Runs['cut'],
): VerifyAnswer {
  const verdict = overall(decisive, cut);
  const worst = decisive.find(({ outcome }) => outcome.verdict === verdict) ?? (decisive.at(-1) as Attempt);
  const all = [...notes, ...attempts.flatMap(({ outcome }) => outcome.notes)];
  if (failures.length > 0 && failures.every(({ before }) => before === 'failed'))
    all.push('every failing test failed before the change too');
  if (failures.length > 0 && failures.every(({ flaky }) => flaky))
    all.push('every failing test passed when it was run once more alone: flaky');
  const actions = actionsFor({
    folder: detected.folder,
    plan: worst.plan,
    verdict,
    failures: worst.outcome.failures,
    tail: [...worst.outcome.notes, tailOf(worst.run.log, ...TELLING_END)].join('\n'),
    exit: worst.run.exit,
    rerun: rerunOf(worst, detected),
    full: showCommand(fullCommand(worst.plan)),
    timeoutSeconds,
    lastLine: tailOf(worst.run.log).split('\n').at(-1) ?? '',
  });
  return {
    verdict,
    ran: attempts.map(({ ran }) => ran),
    failures,
    actions,
    notes: [...new Set(all)],
    tail: worst.outcome.tail,
    log: worst.run.log,
  };
}

/** The name by which a runner can be asked for it: a failure of a whole file is named after the file, or not at all. */
function namesOf({ test }: JudgedFailure | Attempt['outcome']['failures'][number], path: string): readonly string[] {
  return test === null || test === path || test.endsWith(`/${path}`) ? [] : [test];
}

/** The command that runs the failing tests alone. */
function rerunOf(one: Attempt, detected: Detected): string | undefined {
  const names = new Map<string, string[]>();
  for (const failure of one.outcome.failures) {
    const path = testFileOf(failure, one.tests);
    if (path === undefined) return undefined;
    names.set(path, [...(names.get(path) ?? []), ...namesOf(failure, path)]);
  }
  const tests = [...names].map(([path, all]) => ({ path, ...(all.length > 0 ? { names: all } : {}) }));
  const command = tests.length > 0 ? commandFor(one.plan, tests, detected.folder) : undefined;
  return command && showCommand(command);
}
