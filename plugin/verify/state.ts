// The state of a tree as one name: the same content has the same name, whatever branch or commit it is on.

import { copyFile, mkdtemp, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { capture } from './run-capture.ts';

export interface TreeState {
  /** git's name of the whole working tree, untracked files included; undefined outside git. */
  readonly now: string | undefined;
  /** git's name of HEAD's tree: the state without what is not committed. */
  readonly before: string | undefined;
}

/** The objects are thrown away at once: compressing them would be for nothing. */
const ADD = ['-c', 'core.safecrlf=false', '-c', 'core.looseCompression=0'];

/**
 * Both names. The working tree is written as git objects into a folder of its own, removed at once, with a copy of the index: nothing
 * of the repository changes, and only files that differ from the index are read.
 */
export async function treeState(root: string): Promise<TreeState> {
  const asked = await capture(
    'git',
    ['rev-parse', 'HEAD^{tree}', '--git-path', 'index', '--git-path', 'objects', '--show-toplevel'],
    { cwd: root },
  );
  const [before, index, objects, top] = (asked ?? '').split('\n');
  if (!before || !index || !objects) return { now: undefined, before: undefined };
  const folder = await mkdtemp(join(tmpdir(), 'opl-tree-'));
  try {
    const copy = join(folder, 'index');
    await copyIndex(resolve(root, index), copy);
    const env = {
      GIT_INDEX_FILE: copy,
      GIT_OBJECT_DIRECTORY: folder,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: resolve(root, objects),
    };
    const cwd = top || root;
    const add = (...but: readonly string[]) =>
      capture('git', [...ADD, 'add', '--all', '--', '.', ...but.map((path) => `:(exclude,literal)${path}`)], {
        cwd,
        env,
      });
    const added = (await add()) ?? (await add(...(await foreign(cwd))));
    const now = added === undefined ? undefined : (await capture('git', ['write-tree'], { cwd, env }))?.trim();
    return { now: now || undefined, before };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Repositories inside that are not the project's: git does not add one that has no commit, and then nothing at all. */
async function foreign(cwd: string): Promise<readonly string[]> {
  const listed = await capture('git', ['ls-files', '-z', '--others', '--exclude-standard'], { cwd });
  return (listed ?? '').split('\0').filter((path) => path.endsWith('/'));
}

/** With its time: git reads a file again when it is no older than the index, for it may have changed in the same second. */
async function copyIndex(index: string, copy: string): Promise<void> {
  try {
    const { atime, mtime } = await stat(index);
    await copyFile(index, copy);
    await utimes(copy, atime, mtime);
  } catch {
    // No index yet: everything is new.
  }
}
