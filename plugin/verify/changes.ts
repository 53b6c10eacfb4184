// Which paths and lines a change touches. The sidecar reads diffs for their symbols; here only places are needed, before it is asked.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { capture } from './run-capture.ts';

export interface Change {
  /** Relative to the root, sorted; old and new name of a rename. */
  readonly paths: readonly string[];
  /** Added lines, and where lines went: of the new side, both ends inclusive; none for a file that is new, gone, binary or renamed as it is. */
  readonly lines: ReadonlyMap<string, readonly (readonly [number, number])[]>;
  /** Those of the paths that were not there before. */
  readonly added: ReadonlySet<string>;
  /** Where it was read from, for the answer. */
  readonly from: string;
}

/** git's own quoting of unusual names: octal octets of UTF-8, and C's escapes. */
function unquote(name: string): string {
  if (!name.startsWith('"')) return name;
  const octets: number[] = [];
  const inner = name.slice(1, name.lastIndexOf('"'));
  for (let at = 0; at < inner.length; at++) {
    const octal = /^\\([0-7]{3})/.exec(inner.slice(at, at + 4));
    if (octal) {
      octets.push(Number.parseInt(octal[1] as string, 8));
      at += 3;
    } else if (inner[at] === '\\') {
      at += 1;
      octets.push(({ n: 10, t: 9, r: 13 } as Record<string, number>)[inner[at] as string] ?? inner.charCodeAt(at));
    } else octets.push(...Buffer.from(inner[at] as string));
  }
  return Buffer.from(octets).toString('utf8');
}

/** The path without git's prefix (`a/`, `b/`, or those of diff.mnemonicPrefix) where the tree says that there is one. */
function withoutPrefix(root: string, name: string): string | undefined {
  const path = unquote(name.replace(/\t.*$/, '').trim());
  if (path === '/dev/null' || path === '') return undefined;
  const stripped = /^[abciwo]\/(.+)$/.exec(path)?.[1];
  if (stripped === undefined || (existsSync(join(root, path)) && !existsSync(join(root, stripped))))
    return path.replace(/^\.\//, '');
  return stripped;
}

/** A hunk, as it is read: its added lines as runs of lines of the new side. Lines that only went count as the line after them. */
class Hunk {
  readonly #ranges: [number, number][];
  #line: number;
  /** Lines of either side that are still to come. */
  #oldLeft: number;
  #newLeft: number;
  #gone = false;

  constructor(ranges: [number, number][], [old, start, length]: readonly [number, number, number]) {
    this.#ranges = ranges;
    this.#line = length === 0 ? start + 1 : start;
    this.#oldLeft = old;
    this.#newLeft = length;
  }

  /** Takes LINE when it is one of the hunk's; false at its end. */
  take(line: string): boolean {
    if (line.startsWith('\\')) return true;
    if (this.#oldLeft <= 0 && this.#newLeft <= 0) return false;
    const mark = line[0] ?? ' ';
    if (!' +-'.includes(mark)) return false;
    if (mark !== '+') this.#oldLeft -= 1;
    if (mark === '-') this.#gone = true;
    else {
      if (mark === '+') this.#add();
      else this.end();
      this.#gone = false;
      this.#line += 1;
      this.#newLeft -= 1;
    }
    return true;
  }

  /** What went at the end of the hunk, or before an unchanged line. */
  end(): void {
    if (this.#gone) this.#add();
    this.#gone = false;
  }

  #add(): void {
    const last = this.#ranges.at(-1);
    if (last && last[1] >= this.#line - 1 && last[0] <= this.#line) last[1] = Math.max(last[1], this.#line);
    else this.#ranges.push([this.#line, this.#line]);
  }
}

/** The places of a diff: git's, `diff -u`, or apply_patch's. An empty or foreign text has no paths. */
export function changeOfDiff(root: string, diff: string): Change {
  const lines = new Map<string, [number, number][]>();
  const paths = new Set<string>();
  const added = new Set<string>();
  let current: string | undefined;
  let hunk: Hunk | undefined;
  let old: string | undefined;
  const note = (name: string): string | undefined => {
    const path = withoutPrefix(root, name);
    if (path !== undefined && !path.startsWith('../')) paths.add(path);
    return path;
  };
  for (const line of diff.split(/\r?\n/)) {
    if (hunk?.take(line)) continue;
    hunk?.end();
    hunk = undefined;
    const header = /^@@@? -\d+(?:,(\d+))? (?:-\S+ )?\+(\d+)(?:,(\d+))? @@/.exec(line);
    const patch = /^\*\*\* (?:Update|Add|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/.exec(line);
    const renamed = /^(?:rename|copy) (?:from|to) (.+)$/.exec(line);
    if (header && current !== undefined) {
      const ranges = lines.get(current) ?? [];
      lines.set(current, ranges);
      hunk = new Hunk(ranges, [Number(header[1] ?? 1), Number(header[2]), Number(header[3] ?? 1)]);
    } else if (patch) {
      const path = note((patch[1] ?? patch[2]) as string);
      if (path !== undefined && line.startsWith('*** Add')) added.add(path);
    } else if (line.startsWith('new file mode ') && current !== undefined) added.add(current);
    else if (renamed) note(`a/${unquote(renamed[1] as string)}`);
    else if (line.startsWith('--- ')) old = note(line.slice(4));
    else if (line.startsWith('+++ ')) {
      const path = note(line.slice(4));
      if (path !== undefined && old === undefined) added.add(path);
      current = path ?? current;
    } else if (line.startsWith('diff --git ')) current = noteHeader(line.slice(11), note);
  }
  hunk?.end();
  return { paths: [...paths].sort(), lines, added, from: 'the diff given' };
}

/** The header alone names binary files and changes of mode; without quotes both names have the same length. */
function noteHeader(header: string, note: (name: string) => string | undefined): string | undefined {
  const quoted = /^("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)$/.exec(header);
  if (quoted) {
    note(quoted[1] as string);
    return note(quoted[2] as string);
  }
  const half = header.slice(0, (header.length - 1) / 2);
  const other = header.slice(half.length + 1);
  return half.slice(2) === other.slice(2) ? note(other) : undefined;
}

/** Untracked files that tell nothing: what tools write beside the sources. */
const LARGEST_UNTRACKED = 5000;

/** As the sidecar asks git: what it is given here it need not ask for again. */
const DIFF = ['diff', '--no-color', '--no-ext-diff', '--src-prefix=a/', '--dst-prefix=b/', '--relative', '-M'];

/** What differs between the working tree and HEAD, untracked files included; no paths outside a git work tree. */
export async function changeOfWorkingTree(root: string): Promise<Change & { readonly diff: string }> {
  const [tracked, untracked] = await Promise.all([
    capture('git', ['-c', 'core.quotePath=false', ...DIFF, 'HEAD', '--', '.'], { cwd: root }),
    capture('git', ['ls-files', '--others', '--exclude-standard', '-z', '--', '.'], { cwd: root }),
  ]);
  const diff = tracked ?? '';
  const change = changeOfDiff(root, diff);
  const untrackedPaths = (untracked ?? '')
    .split('\0')
    .filter((path) => path !== '' && !path.includes('\n'))
    .slice(0, LARGEST_UNTRACKED);
  const from =
    tracked === undefined
      ? 'no git work tree with a commit: nothing is known to have changed'
      : 'the working tree against HEAD';
  const whole = diff + untrackedPaths.map((path) => `diff --git a/${path} b/${path}\nnew file mode 100644\n`).join('');
  return {
    paths: [...new Set([...change.paths, ...untrackedPaths])].sort(),
    lines: change.lines,
    added: new Set([...change.added, ...untrackedPaths]),
    from,
    diff: whole,
  };
}
