// The folders that roots leave in the cache: who used one last, and when what a deleted repository left may go.

import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeFolder, statOf } from './files.ts';

/** In each root's folder: the root's path. Its time is that of the last use. */
const OWNER = 'root';

/** What can be made anew; the memory of sessions, notes and handovers beside it cannot. */
const MADE_ANEW = /^(index\.|edge-count$)/;

const DAY = 24 * 3600 * 1000;

/** After so many days without use the folder of a root that is gone goes too; a disk that is not mounted comes back sooner. */
export const GONE_DAYS = 30;

/** After so many days without use the index of a root that is there goes, and nothing else. */
export const UNUSED_DAYS = 90;

/** So often it is looked what may go. */
const LOOK_DAYS = 1;

/** As `settings.ts` names the folder of a root. */
const FOLDER = /-[0-9a-f]{16}$/;

export interface RootFolder {
  folder: string;
  /** The root; nothing when an older version made the folder. */
  root: string | undefined;
  gone: boolean;
  used: number;
}

/** Notes that ROOT is used now. A cache that cannot be written is no reason to fail. */
export function noteUse(indexFolder: string, root: string, now = new Date()): void {
  try {
    const owner = path.join(indexFolder, OWNER);
    makeFolder(indexFolder, 0o700);
    if (readOwner(indexFolder) === root) utimesSync(owner, now, now);
    else writeFileSync(owner, root);
  } catch {
    // Read-only, or full.
  }
}

function readOwner(folder: string): string | undefined {
  try {
    return readFileSync(path.join(folder, OWNER), 'utf8') || undefined;
  } catch {
    return undefined;
  }
}

/** The folders of roots in ROOTS, by name; nothing where there are none. Never throws. */
export function rootFolders(roots: string): RootFolder[] {
  try {
    return readdirSync(roots, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && FOLDER.test(entry.name))
      .map((entry) => describe(path.join(roots, entry.name)));
  } catch {
    return [];
  }
}

function describe(folder: string): RootFolder {
  const root = readOwner(folder);
  const times = [folder, ...readdirSync(folder).map((name) => path.join(folder, name))].map(
    (one) => statOf(one)?.mtimeMs ?? 0,
  );
  return { folder, root, gone: root !== undefined && !existsSync(root), used: Math.max(...times) };
}

/** Removes from ROOTS what nobody will miss, OWN (a folder in it) excepted; the folders it took something from. At most once a day. Never throws. */
export function pruneRoots(roots: string, own: string, now = Date.now()): string[] {
  const stamp = path.join(roots, '.pruned');
  const last = statOf(stamp)?.mtimeMs ?? 0;
  if (Math.abs(now - last) < LOOK_DAYS * DAY) return [];
  const taken: string[] = [];
  try {
    writeFileSync(stamp, '');
    utimesSync(stamp, now / 1000, now / 1000);
    for (const { folder, gone, used } of rootFolders(roots)) {
      const days = (now - used) / DAY;
      if (folder === own || days < GONE_DAYS) continue;
      const names = gone ? ['.'] : days > UNUSED_DAYS ? readdirSync(folder).filter((name) => MADE_ANEW.test(name)) : [];
      for (const name of names) rmSync(path.join(folder, name), { recursive: true, force: true });
      if (names.length > 0) taken.push(folder);
    }
  } catch {
    // Another process prunes too, or nothing may be written here.
  }
  return taken;
}
