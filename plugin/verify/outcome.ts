// One verdict from what a run did: how it ended, what its text says, and what its report says.

import { type Failure, notListed, type ParsedLog, type Reported } from './outcome-types.ts';
import type { Verdict } from './plan.ts';
import type { RunResult } from './run.ts';
import { NO_TEXT } from './words.ts';

export interface Outcome {
  readonly verdict: Verdict;
  readonly passed: number | null;
  readonly failed: number | null;
  readonly skipped: number | null;
  readonly failures: readonly Failure[];
  /** The telling end of the log where the verdict needs it. */
  readonly tail: string | null;
  readonly notes: readonly string[];
}

/** POSIX shells: the program was not found, or could not be executed. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
/** A single line that is longer is output that was not understood, not a word at the end of nothing. */
const LONGEST_REMARK = 400;
const NOTHING_FOUND = /^\s*(Error: )?No tests? (files? )?(were )?found/i;

/**
 * The rules of a verdict. `passed` needs a test that ran and the runner's own success; whatever ended the run early wins over what it
 * printed before; a failing exit that names no failure is `unparsed`, never `passed`.
 */
export function outcomeOf(
  run: RunResult,
  text: ParsedLog | undefined,
  report: Reported | undefined,
  tail: string,
): Outcome {
  // A report may list the absence of tests as an error of its own.
  const failures = mergeFailures(report?.failures, text?.failures ?? []).filter(
    ({ test, message }) => test !== null || !NOTHING_FOUND.test(message),
  );
  const told = report && report.passed + report.failed + report.skipped > 0 ? report : undefined;
  const counts = {
    passed: told?.passed ?? text?.passed ?? null,
    failed: told ? Math.max(told.failed, report?.failed ?? 0) : (text?.failed ?? null),
    skipped: told?.skipped ?? text?.skipped ?? null,
  };
  const made = (verdict: Verdict, ...notes: readonly string[]): Outcome => ({
    ...counts,
    verdict,
    failures,
    tail: needsTail(verdict, failures) ? text?.tail || tail : null,
    notes: [notListed(counts.failed, failures.length), ...notes].filter((note) => note !== ''),
  });
  if (run.ended === 'timeout') return made('timeout', run.message ?? '');
  if (run.ended === 'cancelled') return made('cancelled', run.message ?? '');
  if (run.ended === 'disk-full') return made('setup-error', 'the disk is nearly full: the run was ended');
  if (run.ended === 'not-started') return made('setup-error', run.message ?? '');
  return run.exit === 0 ? succeeded(made, counts, failures, text, tail) : failed(made, run, counts, failures, text);
}

type Made = (verdict: Verdict, ...notes: readonly string[]) => Outcome;
type Counts = Pick<Outcome, 'passed' | 'failed' | 'skipped'>;

/** A command that printed nothing (a package manager's `> …` apart) ran nothing; one that printed something was not understood. */
function succeeded(
  made: Made,
  counts: Counts,
  failures: readonly Failure[],
  text: ParsedLog | undefined,
  tail: string,
): Outcome {
  if (failures.some(isTestFailure) || (counts.failed ?? 0) > 0)
    return made('failed', 'the command ended with 0 although tests failed: its exit status is not the runner’s');
  if (text && ['compile-error', 'setup-error', 'timeout'].includes(text.verdict) && failures.length > 0)
    return made(text.verdict, 'the command ended with 0 although it failed');
  if ((counts.passed ?? 0) > 0) return made('passed');
  if (counts.passed === 0)
    return made('no-tests-ran', (counts.skipped ?? 0) > 0 ? `${counts.skipped} were skipped, none ran` : '');
  if (text?.verdict === 'passed') return made('passed');
  if (text?.verdict === 'no-tests-ran') return made('no-tests-ran');
  const lines = tail.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('> '));
  const [only = ''] = lines;
  const silent = lines.length <= 1 && only !== NO_TEXT && only.length <= LONGEST_REMARK;
  return made(silent ? 'no-tests-ran' : 'unparsed', 'the command succeeded, but its output names no test that ran');
}

function failed(
  made: Made,
  run: RunResult,
  counts: Counts,
  failures: readonly Failure[],
  text: ParsedLog | undefined,
): Outcome {
  const ended = run.signal ? `ended by ${run.signal}` : `exit status ${run.exit}`;
  if (failures.some(isTestFailure)) return made(text?.verdict === 'timeout' ? 'timeout' : 'failed');
  if (failures.length > 0) return made(verdictOfFaults(failures, text));
  if ((counts.failed ?? 0) > 0) return made('failed', 'the failing tests are counted but not named');
  if (text && ['no-tests-ran', 'compile-error', 'setup-error', 'timeout'].includes(text.verdict))
    return made(text.verdict);
  if (run.exit === NOT_FOUND) return made('setup-error', 'a program of the command was not found');
  if (run.exit === NOT_EXECUTABLE) return made('setup-error', 'a program of the command cannot be executed');
  return made('unparsed', (counts.passed ?? 0) > 0 ? `${ended}, although no test is said to have failed` : ended);
}

/** A fault of a whole file, or of the compiler, is no failing test. */
function isTestFailure(failure: Failure): boolean {
  return failure.test !== null && !failure.suite && failure.category !== 'compile' && failure.category !== 'setup';
}

function verdictOfFaults(failures: readonly Failure[], text: ParsedLog | undefined): Verdict {
  if (failures.every(({ category }) => category === 'compile')) return 'compile-error';
  if (text && ['compile-error', 'setup-error', 'failed'].includes(text.verdict)) return text.verdict;
  if (failures.some(({ category }) => category === 'compile')) return 'compile-error';
  return failures.every(({ category }) => category === 'setup') ? 'setup-error' : 'failed';
}

function needsTail(verdict: Verdict, failures: readonly Failure[]): boolean {
  return verdict === 'unparsed' || (verdict !== 'passed' && failures.length === 0);
}

/** Names are compared with their separators made one, since a text and a report join them differently. */
function nameKey(failure: Failure): string {
  return (failure.test ?? '')
    .replace(/\.(py|[cm]?[jt]sx?|rb|php)\b/g, '')
    .replace(/\s*(?:>|::|›|»|→|#|\/|\\|:|\.)\s*|\s+/g, ' ')
    .trim()
    .toLowerCase();
}

/**
 * The report says which tests failed, the text says more of each: the two are joined by name, the end of a name counting, and by place
 * where there is no name. What only the text has is kept when it is no test (a compiler, a file that did not load) or there is no report.
 */
function mergeFailures(reported: readonly Failure[] | undefined, parsed: readonly Failure[]): readonly Failure[] {
  if (!reported || reported.length === 0) return parsed;
  const free = new Set(parsed);
  const keys = new Map(parsed.map((one) => [one, nameKey(one)]));
  const keyOf = (one: Failure): string => keys.get(one) ?? '';
  const joined = reported.map((failure) => {
    const key = nameKey(failure);
    const candidates = [...free];
    const twin =
      failure.test === null
        ? candidates.find((one) => samePlace(one, failure) && (one.test === null || !isTestFailure(one)))
        : (candidates.find((one) => one.test !== null && keyOf(one) === key) ??
          candidates.find(
            (one) => one.test !== null && (keyOf(one).endsWith(` ${key}`) || key.endsWith(` ${keyOf(one)}`)),
          ));
    if (!twin) return failure;
    free.delete(twin);
    return {
      test: twin.test ?? failure.test,
      path: twin.line !== null && twin.path !== null ? twin.path : (failure.path ?? twin.path),
      line: twin.line ?? failure.line,
      message: twin.message.length > 0 ? twin.message : failure.message,
      suite: failure.suite && twin.suite,
      category: twin.category,
      frames: twin.frames.length > 0 ? twin.frames : failure.frames,
    };
  });
  const rest = [...free].filter((one) => !isTestFailure(one) && !joined.some((other) => samePlace(one, other)));
  return [...joined, ...rest];
}

function samePlace(one: Failure, other: Failure): boolean {
  if (one.path === null || other.path === null) return one.path === other.path;
  return (
    (one.path.endsWith(other.path) || other.path.endsWith(one.path)) &&
    (one.line === null || other.line === null || one.line === other.line)
  );
}
