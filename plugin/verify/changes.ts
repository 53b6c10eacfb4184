// Which paths and lines a change touches. The sidecar reads diffs for their symbols; here only places are needed, before it is asked.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { capture } from './run-capture.ts';

export interface Change {
  /** Relative to the root, sorted; old and new name of a rename. */
  readonly paths: readonly string[];
  /** Lines of the new side, both ends inclusive; none for a file that is new, gone, binary or renamed as it is: all of it counts. */
  readonly lines: ReadonlyMap<string, readonly (readonly [number, number])[]>;
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

/** The places of a diff: git's, `diff -u`, or apply_patch's. An empty or foreign text has no paths. */
export function changeOfDiff(root: string, diff: string): Change {
  const lines = new Map<string, [number, number][]>();
  const paths = new Set<string>();
  let current: string | undefined;
  let left = 0;
  const note = (name: string): string | undefined => {
    const path = withoutPrefix(root, name);
    if (path !== undefined && !path.startsWith('../')) paths.add(path);
    return path;
  };
  for (const line of diff.split(/\r?\n/)) {
    if (left > 0 && /^[ +-]|^$/.test(line)) {
      if (!line.startsWith('-')) left -= 1;
      continue;
    }
    const hunk = /^@@@? -\S+ (?:-\S+ )?\+(\d+)(?:,(\d+))? @@/.exec(line);
    const patch = /^\*\*\* (?:Update|Add|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/.exec(line);
    const renamed = /^(?:rename|copy) (?:from|to) (.+)$/.exec(line);
    if (hunk && current !== undefined) {
      const start = Number(hunk[1]);
      left = hunk[2] === undefined ? 1 : Number(hunk[2]);
      lines.set(current, [...(lines.get(current) ?? []), [Math.max(start, 1), Math.max(start + left - 1, start, 1)]]);
    } else if (patch) note((patch[1] ?? patch[2]) as string);
    else if (renamed) note(`a/${unquote(renamed[1] as string)}`);
    else if (line.startsWith('--- ')) note(line.slice(4));
    else if (line.startsWith('+++ ')) current = note(line.slice(4)) ?? current;
    else if (line.startsWith('diff --git ')) current = noteHeader(line.slice(11), note);
  }
  return { paths: [...paths].sort(), lines, from: 'the diff given' };
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

/** What differs between the working tree and HEAD, untracked files included; no paths outside a git work tree. */
export async function changeOfWorkingTree(root: string): Promise<Change & { readonly diff: string }> {
  const options = ['-c', 'core.quotePath=false', '-c', 'diff.noprefix=false', '-c', 'diff.mnemonicPrefix=false'];
  const [tracked, untracked] = await Promise.all([
    capture('git', [...options, 'diff', '--no-ext-diff', '--no-color', '--relative', '-U0', 'HEAD', '--', '.'], {
      cwd: root,
    }),
    capture('git', ['ls-files', '--others', '--exclude-standard', '-z', '--', '.'], { cwd: root }),
  ]);
  const diff = tracked ?? '';
  const change = changeOfDiff(root, diff);
  const added = (untracked ?? '')
    .split('\0')
    .filter((path) => path !== '')
    .slice(0, LARGEST_UNTRACKED);
  const from =
    tracked === undefined
      ? 'no git work tree with a commit: nothing is known to have changed'
      : 'the working tree against HEAD';
  const whole = diff + added.map((path) => `diff --git a/${path} b/${path}\nnew file mode 100644\n`).join('');
  return { paths: [...new Set([...change.paths, ...added])].sort(), lines: change.lines, from, diff: whole };
}
