// What a file tool of OpenCode changed, from its arguments and result: paths and diffs.

import path from 'node:path';

export interface Edit {
  /** Relative to the root, /-separated. */
  path: string;
  state: 'add' | 'change' | 'delete';
  /** A unified diff, or as much of one as can be known. */
  diff: string;
}

/** Lines of a new file that are looked at for what they define. */
const LINES = 400;

interface Metadata {
  exists?: boolean;
  diff?: string;
  filediff?: { patch?: string };
}

/** PATHNAME relative to ROOT with slashes, or nothing when it lies outside. */
export function relativePath(root: string, pathname: unknown): string | undefined {
  if (typeof pathname !== 'string' || pathname === '') return undefined;
  const relative = path.relative(root, path.resolve(root, pathname));
  // A name may begin with two dots; another drive of Windows is absolute.
  if (relative === '' || relative.split(path.sep)[0] === '..' || path.isAbsolute(relative)) return undefined;
  return relative.split(path.sep).join('/');
}

function asAdded(content: string): string {
  const lines = content.split('\n').slice(0, LINES);
  return [`@@ -0,0 +1,${lines.length} @@`, ...lines.map((line) => `+${line}`)].join('\n');
}

/** What a call of TOOL changed under ROOT; nothing for tools that change no files, and for bash, of which only the tree can tell. */
export function editsOf(root: string, tool: string, args: unknown, metadata: unknown): Edit[] {
  const given = (args ?? {}) as Record<string, unknown>;
  const { exists, diff, filediff } = (metadata ?? {}) as Metadata;
  const file = relativePath(root, given.filePath);
  switch (tool) {
    case 'write':
      if (!file) return [];
      return [
        {
          path: file,
          state: exists ? 'change' : 'add',
          diff: filediff?.patch ?? diff ?? asAdded(String(given.content ?? '')),
        },
      ];
    case 'edit':
    case 'multiedit':
      if (!file) return [];
      return [{ path: file, state: 'change', diff: filediff?.patch ?? diff ?? replacement(given) }];
    case 'apply_patch':
    case 'patch':
      return patched(root, String(given.patchText ?? given.patch ?? ''));
    default:
      return [];
  }
}

function replacement({ oldString, newString }: Record<string, unknown>): string {
  const marked = (text: unknown, mark: string) =>
    text
      ? String(text)
          .split('\n')
          .map((line) => mark + line)
      : [];
  return ['@@ -1 +1 @@', ...marked(oldString, '-'), ...marked(newString, '+')].join('\n');
}

/** The files of a patch as apply_patch takes it: `*** Add File: x`, `*** Update File: x`, `*** Delete File: x`. */
function patched(root: string, text: string): Edit[] {
  const edits: Edit[] = [];
  for (const section of text.split(/^\*\*\* (?=(?:Add|Update|Delete) File: )/m).slice(1)) {
    const [head = '', ...body] = section.split('\n');
    const [, verb, name] = /^(Add|Update|Delete) File: (.+)$/.exec(head) ?? [];
    const file = relativePath(root, name?.trim());
    if (!file) continue;
    const state = verb === 'Add' ? 'add' : verb === 'Delete' ? 'delete' : 'change';
    // Its hunks begin with @@ and the line they stand under, without numbers.
    const lines = body
      .filter((line) => !line.startsWith('***'))
      .map((line) => line.replace(/^@@\s?(.*)$/, '@@ -1 +1 @@ $1'));
    if (!lines.some((line) => line.startsWith('@@'))) lines.unshift('@@ -1 +1 @@');
    edits.push({ path: file, state, diff: lines.join('\n') });
  }
  return edits;
}
