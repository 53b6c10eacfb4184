// What a tiny project of a test framework is in five states, and what verify should say of each.

import type { Verdict } from '../../plugin/verify/plan.ts';

/** What is done to a project before verify looks at it. */
export type State = 'passing' | 'failing' | 'broken' | 'empty' | 'hanging';
/** All of them, in the order in which they are run. */
export const STATES: readonly State[] = ['passing', 'failing', 'broken', 'empty', 'hanging'];

/** Text by path. */
export type Files = Readonly<Record<string, string>>;

/** One framework: its project in each state, and what is expected. */
export interface Framework {
  readonly name: string;
  /** Programs that must be on the path. */
  readonly needs: readonly string[];
  readonly apt?: readonly string[];
  readonly npm?: readonly string[];
  /** Files of all states. */
  readonly shared: Files;
  readonly states: Readonly<Record<State, Files>>;
  /** Verdicts of the broken and the empty state; the others are the same for all. */
  readonly broken: readonly Verdict[];
  readonly empty: readonly Verdict[];
  /** Of the failing state: a part of the test's name, and its place where the runner says one. */
  readonly failure: { readonly test: string; readonly path?: string; readonly line?: number };
  /** The command, where nothing in the project says it. */
  readonly command?: string;
  /** Run in the folder once before, as a build. */
  readonly prepare?: string;
}
