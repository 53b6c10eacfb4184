// The handover document on disk: which file a session writes, whose an existing one is, and where old ones go.

import {
  copyFileSync,
  lstatSync,
  readFileSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { makeFolder } from '../channel/files.ts';
import { relativePath } from './edits.ts';
import { shortHead } from './head.ts';

/** A shorter file is no document. */
const LEAST_CHARACTERS = 200;

/** Nor is a longer one: the largest that is asked for has 32,768 tokens. */
const MOST_OCTETS = 1_000_000;

export interface Stamp {
  session: string;
  head: string;
}

export interface Found {
  text: string;
  /** When it was last written, in milliseconds since 1970. */
  written: number;
  /** Nothing when it was not asked for by this plugin. */
  stamp: Stamp | undefined;
}

/** The line a document begins with, so that anyone can tell its session, commit and age. */
export function stampLine({ session, head }: Stamp, now: Date): string {
  return `<!-- handover of ${session} at ${shortHead(head)}, ${now.toISOString()} -->`;
}

function readStamp(text: string): Stamp | undefined {
  const [, session, head] = /<!-- handover of (\S+) at ([0-9a-f]+|no commit)/.exec(text.slice(0, 400)) ?? [];
  return session ? { session, head: head === 'no commit' ? '' : head! } : undefined;
}

/** The document at FILE, or nothing: also where a folder, a pipe that would be waited for, or something huge has its name. */
export function findDocument(file: string): Found | undefined {
  try {
    const stats = statSync(file);
    if (!stats.isFile() || stats.size > MOST_OCTETS) return undefined;
    const text = readFileSync(file, 'utf8');
    return { text, written: stats.mtimeMs, stamp: readStamp(text) };
  } catch {
    return undefined;
  }
}

/** The document at FILE when it says something else than BEFORE, the text that stood there when it was asked for. Clocks jump, so times tell nothing. */
export function newDocument(file: string, before: string | undefined): Found | undefined {
  const found = findDocument(file);
  return found && found.text !== before && found.text.trim().length >= LEAST_CHARACTERS ? found : undefined;
}

/** Puts LINE, as of stampLine, before TEXT, the document at FILE. Where that cannot be done it stays as it is, and LOG is told why. */
export function stampDocument(file: string, line: string, text: string, log: (text: string) => void): void {
  try {
    writeFileSync(file, `${line}\n${text}`);
  } catch (error) {
    log(`the document has no first line of ours: ${error instanceof Error ? error.message : error}`);
  }
}

/** What a document of the user's own may be called: such a one makes room for the next without having a stamp. */
const NAMES = /hand.?(over|off)/i;

/**
 * Where in ROOT a document called FILE may be written: there, or where a link inside the root leads to. Nothing where something else has the name:
 * a folder, a pipe, a link that leads out or nowhere, or a text that is no handover document.
 */
export function documentPlace(root: string, file: string): string | undefined {
  let stats: Stats | undefined;
  try {
    stats = lstatSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined; // below a file, or too long a name
  }
  if (!stats) return file;
  let place = file;
  if (stats.isSymbolicLink()) {
    try {
      place = realpathSync(file);
    } catch {
      return undefined;
    }
    if (!relativePath(realpathSync(root), place)) return undefined;
  }
  const found = findDocument(place);
  if (!found) return undefined;
  return found.stamp || found.text.trim() === '' || NAMES.test(path.basename(file)) ? place : undefined;
}

/** A file of SESSION's own, beside the usual FILE. */
export function ownFile(file: string, session: string): string {
  const { dir, name, ext } = path.parse(file);
  return path.join(dir, `${name}-${session.slice(-6)}${ext}`);
}

/** Moves the document at FILE into FOLDER under its time and commit; the new path, or nothing when there was none or it cannot be moved. */
export function archiveDocument(file: string, folder: string): string | undefined {
  const found = findDocument(file);
  if (!found) return undefined;
  const time = new Date(found.written).toISOString().replace(/[:.]/g, '-');
  const target = path.join(folder, `${time}-${shortHead(found.stamp?.head ?? '').replace(' ', '-')}.md`);
  try {
    makeFolder(folder);
    // A copy, for the cache may be on another disk.
    copyFileSync(file, target);
    rmSync(file);
    return target;
  } catch {
    return undefined;
  }
}

/** How long ago TIME was, in the largest whole unit. */
export function ageText(time: number, now = Date.now()): string {
  const minutes = Math.max(0, Math.floor((now - time) / 60_000));
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / (24 * 60))} days`;
}
