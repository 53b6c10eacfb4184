// Did the change work? The tests that tell soonest, then the rest; one verdict, whose failures they are, and what to do.

import { actionsFor } from './actions.ts';
import type { JudgedFailure, VerifyAnswer } from './answer.ts';
import { type Attempt, attempt, type Bench, newSpool, tailOf } from './attempt.ts';
import { changeOfDiff, changeOfWorkingTree } from './changes.ts';
import { type Choice, chooseTests } from './choose.ts';
import { Detected } from './detect.ts';
import { judge, testFileOf } from './judge.ts';
import type { Command, Plan, TestChoice, Verdict } from './plan.ts';
import type { RunProgress } from './run.ts';
import { capture } from './run-capture.ts';
import type { Seams } from './seams.ts';
import { commandFor, fullCommand, groupByPlan } from './select.ts';
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

/** Of several runs the first of these decides; `passed` only where nothing else is left. */
const GRAVEST_FIRST: readonly Verdict[] = [
  'cancelled',
  'timeout',
  'failed',
  'compile-error',
  'setup-error',
  'unparsed',
  'passed',
  'no-tests-ran',
];
/** After these the full suite is run all the same: the selection itself may be at fault. */
const SELECTION_AT_FAULT: readonly Verdict[] = ['no-tests-ran', 'setup-error', 'unparsed'];

/** Runs and judges. Never rejects for what the project does; cancellation is a verdict. */
export async function verify(request: VerifyRequest): Promise<VerifyAnswer> {
  const { root, seams } = request;
  const timeout = request.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS;
  const idle: Omit<Bench, 'deadline'> = {
    root,
    seams,
    spool: newSpool(request.spoolFolder),
    signal: request.signal,
    stopCommand: request.stopCommand,
    onProgress: request.onProgress,
  };
  const worktree = request.diff === undefined ? await changeOfWorkingTree(root) : undefined;
  const change = worktree ?? changeOfDiff(root, request.diff ?? '');
  const diff = worktree?.diff ?? request.diff ?? '';
  const detected = new Detected(root, {
    changed: change.paths,
    ...(request.command === undefined ? {} : { command: request.command }),
  });
  // The state is read while the tests run.
  const state = treeState(root).catch((): TreeState => ({ now: undefined, before: undefined }));
  const choice = await chooseTests(seams, detected, change, diff);
  const notes = [...choice.notes];
  if (request.diff !== undefined && change.paths.length === 0)
    notes.push('the diff given names no file: it is empty or of no known form');
  const bench: Bench = { ...idle, deadline: performance.now() + timeout * 1000 };
  const { attempts, cut } = await runAll(bench, detected, choice, change.paths, request, notes);
  if (attempts.length === 0) return nothingToRun(root, notes, cut);
  const decisive = decisiveOf(attempts);
  const failures = await judgeAll(decisive, { bench, detected, change, diff, given: request.diff, request, state });
  await remember(attempts, failures, choice, seams, await state).catch(() => {});
  return answerOf(attempts, decisive, failures, notes, detected, timeout, cut);
}

interface Runs {
  readonly attempts: readonly Attempt[];
  /** Why not everything was run that should have been. */
  readonly cut: 'timeout' | 'cancelled' | undefined;
}

async function runAll(
  bench: Bench,
  detected: Detected,
  choice: Choice,
  paths: readonly string[],
  request: VerifyRequest,
  notes: string[],
): Promise<Runs> {
  const plans = detected.plans(paths);
  for (const plan of plans) notes.push(...plan.notes, ...uncertainty(plan));
  const attempts: Attempt[] = [];
  let cut: Runs['cut'];
  const run = async (
    plan: Plan,
    command: Command,
    scope: Attempt['scope'],
    tests: readonly TestChoice[],
  ): Promise<void> => {
    if (bench.signal?.aborted) cut = 'cancelled';
    else if (performance.now() >= bench.deadline) cut ??= 'timeout';
    else attempts.push(await attempt(bench, plan, command, scope, tests));
  };
  for (const { plan, command, tests } of await targetedCommands(bench, detected, choice, plans, notes))
    await run(plan, command, 'targeted', tests);
  const verdict = attempts.length > 0 ? gravest(attempts) : undefined;
  if (verdict !== undefined && verdict !== 'passed' && !SELECTION_AT_FAULT.includes(verdict)) return { attempts, cut };
  if (request.targetedOnly === true) {
    if (attempts.length === 0)
      notes.push(
        `no test was found to exercise the change; the full suite: ${plans.map((plan) => showCommand(fullCommand(plan))).join('; ')}`,
      );
    return { attempts, cut };
  }
  if (verdict !== undefined && verdict !== 'passed')
    notes.push(`the targeted run ended with ${verdict}: the full suite decides`);
  for (const plan of plans) await run(plan, fullCommand(plan), 'full', []);
  return { attempts, cut };
}

function uncertainty(plan: Plan): readonly string[] {
  return plan.certainty === 'exact'
    ? []
    : [`${showCommand(fullCommand(plan))}: ${plan.certainty}, from ${plan.reason}`];
}

interface Targeted {
  readonly plan: Plan;
  readonly command: Command;
  readonly tests: readonly TestChoice[];
}

async function targetedCommands(
  bench: Bench,
  detected: Detected,
  choice: Choice,
  plans: readonly Plan[],
  notes: string[],
): Promise<readonly Targeted[]> {
  const build = plans.find((plan) => plan.affected !== undefined);
  if (build?.affected) {
    const command = await affectedCommand(bench, build, notes);
    return command ? [{ plan: build, command, tests: [] }] : [];
  }
  const { groups, without } = groupByPlan(detected, choice.tests);
  if (without.length > 0) notes.push(`no runner is known for ${without.map(({ path }) => path).join(', ')}`);
  return [...groups].flatMap(([plan, tests]) => {
    const command = commandFor(plan, tests, detected.folder);
    if (!command)
      notes.push(
        `${plan.runner} cannot be told to run ${tests.length === 1 ? (tests[0]?.path ?? '') : `${tests.length} files`} alone: the full suite`,
      );
    return command ? [{ plan, command, tests }] : [];
  });
}

/** The build system's own graph says what is affected; nothing, or no answer, is the full suite. */
async function affectedCommand(
  bench: Bench,
  { affected, cwd, env, runner }: Plan,
  notes: string[],
): Promise<Command | undefined> {
  if (!affected) return undefined;
  if (!affected.query) return { argv: affected.run, cwd, env };
  const [program = '', ...args] = affected.query;
  const targets = (await capture(program, args, { cwd: bench.root, env, timeoutSeconds: 300, signal: bench.signal }))
    ?.split('\n')
    .filter((line) => line.trim() !== '');
  if (targets && targets.length > 0) return { argv: [...affected.run, ...targets], cwd, env };
  notes.push(
    targets
      ? `${runner} knows no test that depends on the change: the full suite`
      : `${runner}'s query for affected tests failed: the full suite`,
  );
  return undefined;
}

function gravest(attempts: readonly Attempt[]): Verdict {
  return GRAVEST_FIRST.find((verdict) => attempts.some(({ outcome }) => outcome.verdict === verdict)) ?? 'unparsed';
}

/** The attempts that the verdict is made of: the full ones where they ran, else the targeted ones. */
function decisiveOf(attempts: readonly Attempt[]): readonly Attempt[] {
  const full = attempts.filter(({ scope }) => scope === 'full');
  return full.length > 0 ? full : attempts;
}

interface JudgeAll {
  readonly bench: Bench;
  readonly detected: Detected;
  readonly change: Parameters<typeof judge>[1]['change'];
  readonly diff: string;
  readonly given: string | undefined;
  readonly request: VerifyRequest;
  readonly state: Promise<TreeState>;
}

async function judgeAll(
  attempts: readonly Attempt[],
  { request, state, ...rest }: JudgeAll,
): Promise<readonly JudgedFailure[]> {
  if (attempts.every(({ outcome }) => outcome.failures.length === 0)) return [];
  const base = await baseState(request, await state);
  const pastRuns = base === undefined ? [] : await request.seams.pastRuns(base).catch(() => []);
  const judged: JudgedFailure[] = [];
  for (const one of attempts)
    judged.push(
      ...(await judge(one, { ...rest, pastRuns, baseline: request.baseline === true, rerun: request.rerun !== false })),
    );
  return judged;
}

/** HEAD's tree, or its parent's where a diff was given that HEAD holds already (a clean tree). */
async function baseState({ root, diff }: VerifyRequest, { now, before }: TreeState): Promise<string | undefined> {
  if (diff === undefined || now !== before) return before;
  return (await capture('git', ['rev-parse', 'HEAD~1^{tree}'], { cwd: root }))?.trim() ?? before;
}

async function remember(
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

/** What was cut off is not passed, however far it came. */
function overall(decisive: readonly Attempt[], cut: Runs['cut']): Verdict {
  const verdict = gravest(decisive);
  return cut !== undefined && (verdict === 'passed' || verdict === 'no-tests-ran') ? cut : verdict;
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
    tail: [...worst.outcome.notes, tailOf(worst.run.log)].join('\n'),
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
