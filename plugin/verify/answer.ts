import type { Failure } from './outcome-types.ts';
import type { Verdict } from './plan.ts';

/** One command that was run. */
export interface Ran {
  readonly command: string;
  readonly scope: 'targeted' | 'full';
  readonly verdict: Verdict;
  readonly passed: number | null;
  readonly failed: number | null;
  readonly skipped: number | null;
  readonly seconds: number;
  readonly exit: number | null;
}

/** A failure with what is known of its cause. */
export interface JudgedFailure extends Failure {
  readonly relation: 'changed' | 'reached' | 'unrelated' | 'unknown';
  /** Why it is, or is not, the change's. */
  readonly why: string;
  /** The same test without the change. */
  readonly before: 'passed' | 'failed' | 'unknown';
  /** It passed when it was run once more alone. */
  readonly flaky: boolean;
}

export interface VerifyAnswer {
  readonly verdict: Verdict;
  readonly ran: readonly Ran[];
  readonly failures: readonly JudgedFailure[];
  readonly actions: readonly string[];
  /** Said of the choice of tests and commands: why the full suite, what is uncertain. */
  readonly notes: readonly string[];
  /** The telling end of the log where failures do not say it. */
  readonly tail: string | null;
  /** Absolute path of the captured output. */
  readonly log: string | null;
}
