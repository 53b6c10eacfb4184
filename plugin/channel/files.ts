// Two things that node:fs does in its own way: asking what a path is, and making a folder.

import { mkdirSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';

/** What PATH is, links followed; nothing where it cannot be asked: not there, below a file, too long, unreadable, a circle of links. Never throws. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/**
 * Makes FOLDER and what is missing above it, one after the other: where nothing can be made, as in /proc, node's own recursive mkdir never
 * returns. Throws what mkdir throws, ENOTDIR where a file stands in the way.
 */
export function makeFolder(folder: string, mode?: number): void {
  if (statOf(folder)?.isDirectory()) return;
  const parent = path.dirname(folder);
  if (parent !== folder) makeFolder(parent, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process makes it too.
    if (!statOf(folder)?.isDirectory()) throw error;
  }
}
