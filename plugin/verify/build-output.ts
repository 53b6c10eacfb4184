// What build systems print around the output of the tests that they start: nothing to run, a fault of their own, a task before each line.

import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync, writeFileSync } from 'node:fs';
import type { Outcome } from './outcome.ts';

interface BuildOutput {
  /** It says that it had nothing to run. */
  readonly idle: RegExp;
  /** It says that it has begun to run tasks; without this a failure is its own. */
  readonly begun: RegExp;
  /** The task before each line where the failure parser does not know it; the task is the first group. */
  readonly task?: RegExp;
}

const BUILD_OUTPUT: Readonly<Record<string, BuildOutput>> = {
  bazel: {
    idle: /No test targets were found/,
    begun:
      /INFO: Found \d+ (?:test )?target|Executed \d+ out of \d+ test|^\/\/\S+\s+(?:\(cached\) )?(?:PASSED|FAILED)/m,
  },
  buck2: { idle: /NO TESTS RAN/, begun: /Tests finished:|Test(?:ing)? \S+/ },
  pants: { idle: /No (?:applicable|matching) /, begun: /^[✓✕] |succeeded in|failed \(exit code/m },
  nx: { idle: /No tasks were run|No projects with /, begun: /Running target|> nx run / },
  turbo: { idle: /No tasks were executed/, begun: /Running \S+ in \d+ packages|Tasks:\s+\d+ successful/ },
  moon: {
    idle: /No tasks (?:affected|found)/,
    begun: /^Tasks: \d+|^▮▮▮▮ /m,
    task: /^ *([\w@./~-]+:[\w@./~-]+) \| ?/,
  },
};
/** Programs that start the scripts of packages say it too, whatever the plan calls them. */
const NO_PACKAGES =
  /No packages found with the lifecycle script|No projects matched the filters|None of the selected packages has a/;

/** Octets of either end of a log in which a build system speaks of itself. */
const ENDS = 32_000;
/** A larger log stays as it is: putting it in order takes its size in memory. */
const LARGEST_ORDERED = 64 * 1024 * 1024;

/** The same outcome, except where the output was not understood because the build system ran nothing. */
export function withoutTasks(outcome: Outcome, runner: string, log: string, exit: number | null): Outcome {
  if (outcome.verdict !== 'unparsed' || outcome.failures.length > 0) return outcome;
  const known = BUILD_OUTPUT[runner];
  const text = bothEnds(log);
  if (known?.idle.test(text) || NO_PACKAGES.test(text)) return { ...outcome, verdict: 'no-tests-ran', notes: [] };
  if (exit === 0 || exit === null || !known || known.begun.test(text)) return outcome;
  return {
    ...outcome,
    verdict: 'setup-error',
    notes: [...outcome.notes, `${runner} itself failed before it ran a test`],
  };
}

/** The log with the lines of each task together and their task left out: in a file of its own, or LOG itself where none says its task. */
export function inOrderOfTasks(runner: string, log: string): string {
  const task = BUILD_OUTPUT[runner]?.task;
  if (!task || !isSmall(log)) return log;
  const tasks = new Map<string, string[]>();
  const own: string[] = [];
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    const name = task.exec(line);
    const key = name?.[1];
    if (!name || key === undefined) {
      own.push(line);
      continue;
    }
    const lines = tasks.get(key) ?? [];
    tasks.set(key, lines);
    lines.push(line.slice(name[0].length));
  }
  if (tasks.size === 0) return log;
  const ordered = `${log}.ordered`;
  writeFileSync(ordered, [...[...tasks.values()].flat(), ...own].join('\n'));
  return ordered;
}

function isSmall(log: string): boolean {
  return (statSync(log, { throwIfNoEntry: false })?.size ?? Number.POSITIVE_INFINITY) <= LARGEST_ORDERED;
}

function bothEnds(log: string): string {
  try {
    const file = openSync(log, 'r');
    try {
      const { size } = fstatSync(file);
      const read = (from: number) => {
        const buffer = Buffer.alloc(Math.min(ENDS, size - from));
        readSync(file, buffer, 0, buffer.length, from);
        return buffer.toString('utf8');
      };
      return size <= 2 * ENDS ? read(0) + (size > ENDS ? read(ENDS) : '') : read(0) + read(size - ENDS);
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
}
