// In which order commands are run, and what several of them say together.

import { type Attempt, attempt, type Bench } from './attempt.ts';
import type { Choice } from './choose.ts';
import type { Detected } from './detect.ts';
import type { Command, Plan, TestChoice, Verdict } from './plan.ts';
import { capture } from './run-capture.ts';
import { commandFor, fullCommand, groupByPlan } from './select.ts';
import { showCommand } from './words.ts';

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

export interface Runs {
  readonly attempts: readonly Attempt[];
  /** Why not everything was run that should have been. */
  readonly cut: 'timeout' | 'cancelled' | undefined;
}

export interface Wanted {
  /** What changed. */
  readonly paths: readonly string[];
  readonly targetedOnly: boolean;
  /** What a reader should know is added to them. */
  readonly notes: string[];
  /** Whether all that failed is known to have failed before the change: it tells nothing of it. */
  readonly older: (attempts: readonly Attempt[]) => Promise<boolean>;
}

/** The targeted commands, then the full suites, as long as nothing tells against the change and time is left. */
export async function runAll(
  bench: Bench,
  detected: Detected,
  choice: Choice,
  { paths, targetedOnly, notes, older }: Wanted,
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
  const telling = verdict !== undefined && verdict !== 'passed' && !SELECTION_AT_FAULT.includes(verdict);
  if (telling && !(verdict === 'failed' && (await older(attempts)))) return { attempts, cut };
  if (targetedOnly) {
    if (attempts.length === 0)
      notes.push(
        `no test was found to exercise the change; the full suite: ${plans.map((plan) => showCommand(fullCommand(plan))).join('; ')}`,
      );
    return { attempts, cut };
  }
  if (verdict !== undefined && verdict !== 'passed')
    notes.push(
      telling
        ? 'what failed in the targeted run failed before the change too: the full suite decides'
        : `the targeted run ended with ${verdict}: the full suite decides`,
    );
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

/** A first query loads the whole graph of a large repository. */
const LONGEST_QUERY_SECONDS = 300;

/** undefined where the output is of no known form. */
function targetsIn(output: string, { targets }: NonNullable<Plan['affected']>): readonly string[] | undefined {
  if (!targets) return output.split('\n').filter((line) => line.trim() !== '');
  try {
    return targets(output);
  } catch {
    return undefined;
  }
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
  const left = (bench.deadline - performance.now()) / 1000;
  const output = await capture(program, args, {
    cwd: bench.root,
    env,
    timeoutSeconds: Math.max(1, Math.min(LONGEST_QUERY_SECONDS, left)),
    signal: bench.signal,
    partial: affected.partial,
  });
  const targets = output === undefined ? undefined : targetsIn(output, affected);
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
export function decisiveOf(attempts: readonly Attempt[]): readonly Attempt[] {
  const full = attempts.filter(({ scope }) => scope === 'full');
  return full.length > 0 ? full : attempts;
}

/** What was cut off is not passed, however far it came. */
export function overall(decisive: readonly Attempt[], cut: Runs['cut']): Verdict {
  const verdict = gravest(decisive);
  return cut !== undefined && (verdict === 'passed' || verdict === 'no-tests-ran') ? cut : verdict;
}
