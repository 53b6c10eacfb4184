// Which commit is checked out, read from git's files: a hook starts no process.

import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** The commit checked out at ROOT in hexadecimal, or an empty string: no repository, no commit yet, or files we do not know. Never throws. */
export function readHead(root: string): string {
  try {
    const folder = gitFolder(root);
    const head = readFileSync(path.join(folder, 'HEAD'), 'utf8').trim();
    const name = /^ref: (.+)$/.exec(head)?.[1];
    const commit = name ? (readReference(folder, name) ?? '') : head;
    // Whatever else a file holds that HEAD names is none of ours.
    return /^[0-9a-f]{40,64}$/.test(commit) ? commit : '';
  } catch {
    return '';
  }
}

/** The first characters of a commit, as people quote it; `no commit` when there is none. */
export function shortHead(head: string): string {
  return head ? head.slice(0, 10) : 'no commit';
}

/** The folder that holds HEAD: .git, or where a worktree's or submodule's .git file points. */
function gitFolder(root: string): string {
  const entry = path.join(root, '.git');
  if (statSync(entry).isDirectory()) return entry;
  const target = /^gitdir: (.+)$/m.exec(readFileSync(entry, 'utf8'))?.[1];
  if (!target) throw new Error('no gitdir');
  return path.resolve(root, target.trim());
}

function readReference(folder: string, name: string): string | undefined {
  // Branches of a worktree lie in the common folder.
  for (const base of [folder, commonFolder(folder)]) {
    try {
      return readFileSync(path.join(base, name), 'utf8').trim();
    } catch {
      const packed = readPacked(base, name);
      if (packed) return packed;
    }
  }
  return undefined;
}

function commonFolder(folder: string): string {
  try {
    return path.resolve(folder, readFileSync(path.join(folder, 'commondir'), 'utf8').trim());
  } catch {
    return folder;
  }
}

function readPacked(base: string, name: string): string | undefined {
  try {
    const lines = readFileSync(path.join(base, 'packed-refs'), 'utf8').split('\n');
    return lines.find((line) => line.endsWith(` ${name}`))?.split(' ')[0];
  } catch {
    return undefined;
  }
}
