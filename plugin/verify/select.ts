import { Detected } from './detect.ts';
import { relativeTo } from './folder.ts';
import type { Command, Plan, TestChoice } from './plan.ts';
import type { Runner } from './runner.ts';
import { identify, runnerNamed } from './runners.ts';
import { showCommand } from './words.ts';

/** More words than this are past what a command line takes on Windows (32 kB); the full suite is then quicker to say. */
const LONGEST_SELECTION = 24_000;

/** The full suite of a plan. */
export function fullCommand(plan: Plan): Command {
  return { argv: plan.argv, ...(plan.shell === undefined ? {} : { shell: plan.shell }), cwd: plan.cwd, env: plan.env };
}

/**
 * The command that runs just these tests, by the runner's own selection arguments.
 * undefined where the runner cannot be told (no known runner behind the script, a shell command, a runner
 * without selection): the full suite is then the only truth. `folder` reads class names where they are needed.
 */
export function commandFor(plan: Plan, tests: readonly TestChoice[], folder: Detected['folder']): Command | undefined {
  const runner = rowOf(plan);
  const base = plan.named ? plan.direct : (plan.extend ?? plan.direct);
  if (!runner?.select || base === undefined || plan.shell !== undefined || tests.length === 0) return undefined;
  const files = tests.map(({ path }) => relativeTo(plan.cwd, path));
  const names = tests.every((test) => test.names && test.names.length > 0)
    ? tests.flatMap(({ names: all = [] }) => all)
    : [];
  const args = runner.select({ files, names: [...new Set(names)], cwd: plan.cwd, folder });
  if (args === undefined || args.join(' ').length > LONGEST_SELECTION) return undefined;
  const env = base === plan.direct ? { ...plan.env, ...plan.directEnv } : plan.env;
  const start = runner.replaced ? base.filter((word) => !runner.replaced?.includes(word)) : base;
  return { argv: [...start, ...args], cwd: plan.cwd, env };
}

/**
 * The row of the runner table behind a plan. Several programs share one name (rake, rails and ruby run
 * minitest; Django runs unittest): where the command shows its program, that decides.
 */
export function rowOf(plan: Plan): Runner | undefined {
  const shown = identify({ argv: plan.direct ?? plan.extend ?? plan.argv, env: {}, after: '' });
  return shown?.runner.name === plan.runner ? shown.runner : runnerNamed(plan.runner);
}

/** Test files by the plan that runs them, in the order given; files that no plan runs are left out and returned. */
export function groupByPlan(
  detected: Detected,
  tests: readonly TestChoice[],
): { readonly groups: ReadonlyMap<Plan, readonly TestChoice[]>; readonly without: readonly TestChoice[] } {
  const groups = new Map<Plan, TestChoice[]>();
  const without: TestChoice[] = [];
  for (const test of tests) {
    const plan = detected.planFor(test.path);
    if (!plan) without.push(test);
    else groups.set(plan, [...(groups.get(plan) ?? []), test]);
  }
  return { groups, without };
}

/**
 * The commands, ready to type, that would run these tests: one for each package and runner they belong to.
 * Where a runner cannot select, its full suite stands. Empty when there are no tests or no runner is known.
 */
export function commandsForTests(root: string, tests: readonly TestChoice[]): readonly string[] {
  const detected = new Detected(root, { changed: tests.map(({ path }) => path) });
  return [...groupByPlan(detected, tests).groups].map(([plan, chosen]) =>
    showCommand(commandFor(plan, chosen, detected.folder) ?? fullCommand(plan)),
  );
}
