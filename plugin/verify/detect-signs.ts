import { type Folder, under } from './folder.ts';
import type { Certainty, Plan } from './plan.ts';
import { runnerNamed } from './runners.ts';

/** A row of an ecosystem's table: what in a folder speaks for a runner, and the command it means. */
export interface Sign {
  readonly runner: string;
  readonly ecosystem: string;
  /** Names in the folder, one of which must be there; a pattern or a whole name. */
  readonly marks: readonly (string | RegExp)[];
  /** The mark is a folder that holds a name like this. */
  readonly holds?: RegExp;
  /** And one of these files, if given, must hold the pattern. */
  readonly content?: { readonly files: readonly (string | RegExp)[]; readonly pattern: RegExp };
  /** The first of these files that is there is the program, before `argv`: wrappers checked in with the project. */
  readonly wrapper?: readonly string[];
  readonly program: readonly string[];
  readonly argv: readonly string[];
  /** What the runner needs to be told to run everything; left out when files are chosen. */
  readonly everything?: readonly string[];
  readonly certainty: Certainty;
  readonly reason: string;
  readonly notes?: readonly string[];
}

/** The plans of the rows that hold, in the table's order; a later row of a runner that is already there is left out. */
export function detectBySigns(signs: readonly Sign[], folder: Folder, at: string, windows: boolean): readonly Plan[] {
  const plans: Plan[] = [];
  for (const sign of signs) {
    if (plans.some((plan) => plan.ecosystem === sign.ecosystem)) continue;
    const mark = firstMark(sign, folder, at);
    if (mark !== undefined) plans.push(planOfSign(sign, mark, folder, at, windows));
  }
  return plans;
}

function matches(names: readonly string[], mark: string | RegExp, folder: Folder, at: string): string | undefined {
  if (typeof mark !== 'string') return names.find((name) => mark.test(name));
  return names.includes(mark) || (mark.includes('/') && folder.has(under(at, mark))) ? mark : undefined;
}

function firstMark(sign: Sign, folder: Folder, at: string): string | undefined {
  const names = folder.list(at);
  const found = sign.marks.map((mark) => matches(names, mark, folder, at)).find((name) => name !== undefined);
  if (found !== undefined && sign.holds && !folder.list(under(at, found)).some((name) => sign.holds?.test(name)))
    return undefined;
  if (found === undefined || sign.content === undefined) return found;
  const { files, pattern } = sign.content;
  return files
    .map((mark) => matches(names, mark, folder, at))
    .find((name) => name !== undefined && pattern.test(folder.text(under(at, name)) ?? ''));
}

function planOfSign(sign: Sign, mark: string, folder: Folder, at: string, windows: boolean): Plan {
  const names = folder.list(at);
  const wrapper = sign.wrapper?.find(
    (name) =>
      (windows ? names.includes(`${name}.cmd`) || names.includes(`${name}.bat`) : false) ||
      names.includes(name) ||
      (name.includes('/') && folder.has(under(at, name))),
  );
  const program =
    wrapper === undefined
      ? sign.program
      : [windows ? wrapper.replaceAll('/', '\\') : wrapper.includes('/') ? wrapper : `./${wrapper}`];
  const words = [...program, ...sign.argv];
  const argv = [...words, ...(sign.everything ?? runnerNamed(sign.runner)?.everything ?? [])];
  return {
    runner: sign.runner,
    ecosystem: sign.ecosystem,
    cwd: at,
    argv,
    openEnded: argv,
    env: {},
    extend: words,
    ...(sign.everything && sign.everything.length > 0 ? { named: true, direct: words } : {}),
    certainty: sign.certainty,
    reason: `${sign.reason} (${under(at, mark)})`,
    notes: sign.notes ?? [],
  };
}
