/** What verify knows of a way to test this project. Shared by detection, selection, running and reports. */

export type Certainty = 'exact' | 'likely' | 'possible';

export type Verdict =
  | 'passed'
  | 'failed'
  | 'no-tests-ran'
  | 'compile-error'
  | 'setup-error'
  | 'timeout'
  | 'cancelled'
  | 'unparsed';

/** How the tests a change touches are asked for where a build system keeps its own graph. */
export interface AffectedQuery {
  /** Prints one target a line; absent where the runner selects by itself. */
  readonly query?: readonly string[];
  /** The targets in what the query printed, where that is not one a line. */
  readonly targets?: (output: string) => readonly string[];
  /** An exit status of the query whose output counts all the same. */
  readonly partial?: number;
  /** The run itself; the query's targets are appended. */
  readonly run: readonly string[];
}

/** One way to run the tests of one folder. */
export interface Plan {
  /** Key of the runner table; "unknown" for a command that names no runner known here. */
  readonly runner: string;
  /** The family of languages it tests: "javascript", "python" …; "any" for a given command. */
  readonly ecosystem: string;
  /** Folder to run in, relative to the root; "" for the root itself. */
  readonly cwd: string;
  /** The full suite. */
  readonly argv: readonly string[];
  /** The full suite as the shell reads it, for a given command that needs a shell. */
  readonly shell?: string;
  readonly env: Readonly<Record<string, string>>;
  /** The full suite as words that options may stand behind; absent where they would reach another program. */
  readonly openEnded?: readonly string[];
  /** Runner arguments may be appended to this; absent where they would reach another program. */
  readonly extend?: readonly string[];
  /** `extend` already names files, so that a file appended to it would add to them, not select. */
  readonly named?: boolean;
  /** The runner called by itself, its own files removed: what a selection is appended to when `named`. */
  readonly direct?: readonly string[];
  /** What `direct` needs besides `env`: assignments that stand in the script. */
  readonly directEnv?: Readonly<Record<string, string>>;
  readonly affected?: AffectedQuery;
  readonly certainty: Certainty;
  /** Why this command: the file and the entry it was read from. */
  readonly reason: string;
  /** What a reader should know: a removed --watch, a `| head`, an uncertain choice. */
  readonly notes: readonly string[];
}

/** A test file, with the names of single tests in it where they are known. Paths are relative to the root. */
export interface TestChoice {
  readonly path: string;
  readonly names?: readonly string[];
}

/** A command ready to start: `shell` when a shell must read it, else `argv`. */
export interface Command {
  readonly argv: readonly string[];
  readonly shell?: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}
