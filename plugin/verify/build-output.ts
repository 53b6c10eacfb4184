// What build systems print around the output of the tests that they start: nothing to run, a fault of their own, a task before each line.

import { closeSync, fstatSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { statOf } from '../channel/files.ts';
import type { Outcome } from './outcome.ts';
import type { ParsedLog } from './outcome-types.ts';

interface BuildOutput {
  /** It says that it had nothing to run. */
  readonly idle: RegExp;
  /** It says that it has begun to run tasks; without this a failure is its own. */
  readonly begun: RegExp;
  /** Before a line that a task printed, where several tasks print at once; the task is the first group. */
  readonly before?: RegExp;
  /** A line after which all is one task's, as far as no line says otherwise; the task is the first group. */
  readonly heading?: RegExp;
}

const BUILD_OUTPUT: Readonly<Record<string, BuildOutput>> = {
  bazel: {
    idle: /No test targets were found/,
    begun:
      /INFO: Found \d+ (?:test )?target|Executed \d+ out of \d+ test|^\/\/\S+\s+(?:\(cached\) )?(?:PASSED|FAILED)/m,
  },
  buck2: { idle: /NO TESTS RAN/, begun: /Tests finished:|Test(?:ing)? \S+/ },
  pants: { idle: /No (?:applicable|matching) /, begun: /^[✓✕] |succeeded in|failed \(exit code/m },
  nx: {
    idle: /No tasks were run|No projects with /,
    begun: /Running target|> nx run /,
    before: /^([\w@./~-]+): /,
    heading: /^> nx run ([^:\s]+):|^ NX /,
  },
  turbo: { idle: /No tasks were executed/, begun: /Running \S+ in \d+ packages|Tasks:\s+\d+ successful/ },
  moon: {
    idle: /No tasks (?:affected|found)/,
    begun: /^Tasks: \d+|^▮▮▮▮ /m,
    before: /^ *([\w@./~-]+:[\w@./~-]+) \| ?/,
  },
};
/** Programs that start the scripts of packages say it too, whatever the plan calls them. */
const NO_PACKAGES =
  /No packages found with the lifecycle script|No projects matched the filters|None of the selected packages has a/;

/** Octets of either end of a log in which a build system speaks of itself. */
const ENDS = 32_000;
/** More tasks than this are read as one text: each part is a question to the sidecar. */
const MOST_PARTS = 200;
/** A larger log stays as it is: taking it apart takes its size in memory. */
const LARGEST_PARTED = 64 * 1024 * 1024;

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

/**
 * The output of each task in a file of its own beside LOG, for tasks run beside each other and cached ones are printed in different
 * ways; LOG alone where it is of one piece or not known to be of several.
 */
export function partsOf(runner: string, log: string): readonly string[] {
  const known = BUILD_OUTPUT[runner];
  if (!(known?.before || known?.heading) || !isSmall(log)) return [log];
  const parts = byTask(readFileSync(log, 'utf8').split('\n'), known);
  if (parts.size <= 1 || parts.size > MOST_PARTS) return [log];
  return [...parts.values()].map((lines, number) => {
    const file = `${log}.${number}`;
    writeFileSync(file, `${lines.join('\n')}\n`);
    return file;
  });
}

/** Lines by task; "" has what no task printed. A name before a line counts when a heading or a line of that form said it first. */
function byTask(lines: readonly string[], { before, heading }: BuildOutput): ReadonlyMap<string, readonly string[]> {
  const parts = new Map<string, string[]>([['', []]]);
  const add = (task: string, line: string): void => {
    const part = parts.get(task) ?? [];
    parts.set(task, part);
    part.push(line);
  };
  let current = '';
  for (const coloured of lines) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character starts a colour
    const line = coloured.replace(/\u001b\[[0-9;]*m/g, '');
    const head = heading?.exec(line);
    const said = before?.exec(line);
    if (head) {
      current = head[1] ?? '';
      if (current !== '' && !parts.has(current)) parts.set(current, []);
    } else if (said?.[1] !== undefined && (!heading || parts.has(said[1]))) add(said[1], line.slice(said[0].length));
    else add(current, line);
  }
  return parts;
}

/** Of parts the first of these that one has is the whole's. */
const GRAVEST_FIRST: readonly ParsedLog['verdict'][] = [
  'failed',
  'compile-error',
  'setup-error',
  'timeout',
  'passed',
  'no-tests-ran',
];

/** What the parts of one output say together. */
export function oneOfParts(parts: readonly (ParsedLog | undefined)[]): ParsedLog | undefined {
  const read = parts.filter((part) => part !== undefined);
  if (read.length <= 1) return read[0];
  const sum = (key: 'passed' | 'failed' | 'skipped'): number | null =>
    read.reduce<number | null>((total, part) => (part[key] === null ? total : (total ?? 0) + part[key]), null);
  return {
    runner: read.find(({ runner }) => runner !== null)?.runner ?? null,
    verdict: GRAVEST_FIRST.find((verdict) => read.some((part) => part.verdict === verdict)) ?? 'unparsed',
    passed: sum('passed'),
    failed: sum('failed'),
    skipped: sum('skipped'),
    failures: read.flatMap(({ failures }) => failures),
    tail: null,
  };
}

function isSmall(log: string): boolean {
  return (statOf(log)?.size ?? Number.POSITIVE_INFINITY) <= LARGEST_PARTED;
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
