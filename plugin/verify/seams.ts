// What verify asks of the sidecar, as verify needs it. Each answer may be missing: a run is worth its result without them.

import type { Failure, ParsedLog } from './outcome-types.ts';
import type { Certainty, TestChoice, Verdict } from './plan.ts';

/** The tests that exercise a change, most telling first. */
export interface Affected {
  readonly tests: readonly (TestChoice & { readonly certainty: Certainty; readonly reason: string })[];
  readonly complete: boolean;
  /** Why the tests above may not be all. */
  readonly incomplete: readonly string[];
  /** Why only the full suite can tell; empty where the tests above can. */
  readonly fullSuite: readonly string[];
  /** Symbols that the change touches, `path:name`. */
  readonly roots: readonly string[];
}

/** Why a failure belongs to the change, or does not. */
export interface Attribution {
  readonly failure: Failure;
  /** `changed` stands in the change, `reached` depends on it, `unrelated` does neither as far as the graph knows. */
  readonly relation: 'changed' | 'reached' | 'unrelated' | 'unknown';
  /** "src/a.ts:42, changed, reached from test X by f -> g". */
  readonly why: string;
}

export interface PastFailure {
  readonly test: string | null;
  readonly path: string | null;
}

/** A run that was recorded. */
export interface PastRun {
  readonly scope: 'targeted' | 'full';
  readonly cwd: string;
  readonly runner: string;
  readonly verdict: Verdict;
  readonly seconds: number;
  /** The test files that were asked for; empty for the full suite. */
  readonly files: readonly string[];
  readonly failures: readonly PastFailure[];
}

export interface RunRecord extends PastRun {
  readonly tree: string;
  readonly command: string;
  readonly passed: number | null;
  readonly failed: number | null;
  readonly skipped: number | null;
  /** (changed symbol, test) pairs that this run speaks for or against. */
  readonly learned: readonly {
    readonly symbol: string;
    readonly path: string;
    readonly test: string | null;
    readonly failed: boolean;
  }[];
}

export interface Seams {
  /** The failure parser over a captured log. RUNNER is a hint; undefined: from the text. */
  failures(log: string, runner: string | undefined, exit: number | null): Promise<ParsedLog | undefined>;
  /** The tests of a diff that was given, or of the working tree's against HEAD. */
  affected(change: { readonly diff: string; readonly given: boolean }): Promise<Affected | undefined>;
  attribute(failures: readonly Failure[], diff: string): Promise<readonly Attribution[] | undefined>;
  /** Runs recorded at this state of the tree, newest first. */
  pastRuns(tree: string): Promise<readonly PastRun[]>;
  /** Tests whose last recorded run failed, whatever the tree was, newest first. */
  stillFailing(): Promise<readonly PastFailure[]>;
  record(run: RunRecord): Promise<void>;
}
