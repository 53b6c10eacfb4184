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
