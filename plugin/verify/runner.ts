import type { Folder } from './folder.ts';

/** What a selection is made of; files relative to the folder the command runs in. */
export interface Selection {
  readonly files: readonly string[];
  /** Names of single tests as the failure parser prints them, or as the test map has them. */
  readonly names: readonly string[];
  /** The folder the command runs in, relative to the root. */
  readonly cwd: string;
  readonly folder: Folder;
}

/** Where and how a machine-readable report is asked for. */
export interface Report {
  readonly args?: readonly string[];
  /** Set only where the variable is not the user's already; PATH-like ones are joined by `joins`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Absolute paths of files or folders of reports that the run will write. */
  readonly files: readonly string[];
}

/** A row of the runner table: everything verify knows of one test runner's command line. */
export interface Runner {
  /** As the failure parser calls it where it has a table, else the program's own name. */
  readonly name: string;
  readonly ecosystem: string;
  /** Word patterns that start it, longest first: program (without folder and suffix), then subcommands. */
  readonly programs: readonly (readonly string[])[];
  /** Options followed by a value in the next word: the value is not a file. */
  readonly valued?: readonly string[];
  /** Options that would keep it running; dropped wherever they stand. */
  readonly watching?: readonly string[];
  /** Subcommands that watch, with the one that runs once. */
  readonly onceInstead?: Readonly<Record<string, string>>;
  /** Arguments that make it run once, appended when they are not there. */
  readonly once?: readonly string[];
  /** Words after the program that are neither options nor files (`discover` of unittest). */
  readonly keeps?: readonly string[];
  /** Words of the command that a selection says itself, and in whose place it stands. */
  readonly replaced?: readonly string[];
  /** Arguments that run just this selection; undefined where it cannot be said to the runner. */
  readonly select?: (selection: Selection) => readonly string[] | undefined;
  /** Appended in place of the files for the full suite when the runner needs them (`./...`). */
  readonly everything?: readonly string[];
  /** The report it can write beside its text into `into`; `argv` is the command as it stands. */
  readonly report?: (into: string, argv: readonly string[]) => Report | undefined;
  /** Reports it writes anyway, as paths below the folder it runs in; `*` within a name, `**` for any folders. */
  readonly written?: readonly string[];
  /** The words print a stream for machines (`go test -json`): a full suite may be asked that way. */
  readonly streams?: (argv: readonly string[]) => readonly string[] | undefined;
}

/** A regular expression's own characters made literal. */
export function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** `a > b` as runners that match on the full title have it: joined by blanks, anchored at the end. */
export function titlePattern(names: readonly string[]): string {
  const titles = names.map((name) => literal(name.split(' > ').join(' ')).replaceAll('\\/', '/'));
  return titles.length === 1 ? `${titles[0]}$` : `(${titles.join('|')})$`;
}

/** The name of a file without folder and suffixes. */
export function stemOf(path: string): string {
  return (path.split('/').at(-1) ?? path).replace(/\.[^.]+$/, '');
}

/** More names than this and a pattern of them is longer than the time it saves. */
const MOST_NAMES = 20;

/** Whether NAMES are worth a pattern: some, and not too many. */
export function fewNames(names: readonly string[]): boolean {
  return names.length > 0 && names.length <= MOST_NAMES;
}
