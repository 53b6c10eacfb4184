import type { Verdict } from './plan.ts';

export type Category = 'assertion' | 'error' | 'compile' | 'setup' | 'timeout' | 'crash';

export interface Frame {
  readonly path: string;
  readonly line: number | null;
  readonly function: string | null;
}

/** One failure, as the failure parser and the report readers give it. */
export interface Failure {
  /** null where a compiler speaks, or a whole file could not be loaded. */
  readonly test: string | null;
  readonly path: string | null;
  readonly line: number | null;
  /** A whole file failed, rather than a test of it. */
  readonly suite: boolean;
  readonly message: string;
  readonly category: Category;
  readonly frames: readonly Frame[];
}

/** What a captured text says, by the sidecar's failure parser. */
export interface ParsedLog {
  readonly runner: string | null;
  readonly verdict: Verdict;
  readonly passed: number | null;
  readonly failed: number | null;
  readonly skipped: number | null;
  readonly failures: readonly Failure[];
  readonly tail: string | null;
}

/** What machine-readable reports say together. */
export interface Reported {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
}

/** Below so many a higher count has another reason: a runner that counts what it does not name. The sidecar keeps twice as many. */
const MANY = 1000;

/** What a reader must know of a log with more failures than are kept; "" where all are. */
export function notListed(failed: number | null, listed: number): string {
  return failed !== null && listed >= MANY && failed > listed
    ? `${failed - listed} more failures are counted but not listed: a log's first ones are kept`
    : '';
}
