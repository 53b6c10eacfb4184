// Settings: defaults, then the user's options, then the environment; validated once.

import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { homedir, tmpdir, totalmem } from 'node:os';
import path from 'node:path';
import { makeFolder, statOf } from './channel/files.ts';
import type { SidecarOptions } from './channel/sidecar.ts';

export interface Settings {
  /** The SBCL program. OPL_SBCL. */
  sbcl: string;
  /** The universal-ctags program. OPL_CTAGS. */
  ctags: string;
  /** Patterns of files to leave out, as ctags --exclude takes them. OPL_CTAGS_EXCLUDES, separated by commas or newlines. */
  excludes: string[];
  /** The sidecar's heap. Address space only until it is used. OPL_HEAP_MB. */
  heapMegabytes: number;
  /** The control stack of each of its threads. OPL_STACK_MB. */
  stackMegabytes: number;
  /** Seconds that lisp_eval may take. OPL_EVAL_SECONDS. */
  evalSeconds: number;
  /** The log file; nothing: no log. OPL_DEBUG: a path, or 1 for opl.log in the cache folder. */
  debug: string | null;
}

/** The schema of a user's options in opencode.json: `"plugin": [["opencode-plugin-lisp", { … }]]`. */
const optionsSchema = {
  type: 'object',
  properties: {
    sbcl: { type: 'string', minLength: 1 },
    ctags: { type: 'string', minLength: 1 },
    excludes: { type: 'array', items: { type: 'string', minLength: 1 } },
    heapMegabytes: { type: 'integer', minimum: 256, maximum: 262_144 },
    stackMegabytes: { type: 'integer', minimum: 2, maximum: 1024 },
    evalSeconds: { type: 'integer', minimum: 1, maximum: 3600 },
    debug: { type: ['string', 'null'] },
  },
  additionalProperties: false,
};

/** linux-source-6.1 (1.4 million tags) needs well under 1 GB; indexing it from scratch wants room beside that for the garbage collector. */
const HEAP_MEGABYTES = Math.max(1024, Math.min(4096, Math.floor(totalmem() / 2 ** 21)));

/** SBCL's own default of 2 MB ends a recursive walk of a deep tree early. */
const STACK_MEGABYTES = 8;

const EVAL_SECONDS = 30;

/** The user's home folder; the one for temporary files where the user has none, as in a container under a number without a name. */
export function homeFolder(env: NodeJS.ProcessEnv = process.env): string {
  if (env.HOME) return env.HOME;
  try {
    return homedir() || tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Where this plugin keeps what it can make again, by the platform's rule. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const name = 'opencode-plugin-lisp';
  if (env.XDG_CACHE_HOME && path.isAbsolute(env.XDG_CACHE_HOME)) return path.join(env.XDG_CACHE_HOME, name);
  const home = homeFolder(env);
  if (process.platform === 'win32') return path.join(env.LOCALAPPDATA || path.join(home, 'AppData', 'Local'), name);
  if (process.platform === 'darwin') return path.join(home, 'Library', 'Caches', name);
  return path.join(home, '.cache', name);
}

function fromEnvironment(env: NodeJS.ProcessEnv): Partial<Record<keyof Settings, unknown>> {
  const number = (text: string) => (/^\d+$/.test(text) ? Number(text) : text);
  const readers: [keyof Settings, string, (text: string) => unknown][] = [
    ['sbcl', 'OPL_SBCL', String],
    ['ctags', 'OPL_CTAGS', String],
    [
      'excludes',
      'OPL_CTAGS_EXCLUDES',
      (text) =>
        text
          .split(/[,\n]/)
          .map((one) => one.trim())
          .filter(Boolean),
    ],
    ['heapMegabytes', 'OPL_HEAP_MB', number],
    ['stackMegabytes', 'OPL_STACK_MB', number],
    ['evalSeconds', 'OPL_EVAL_SECONDS', number],
    [
      'debug',
      'OPL_DEBUG',
      (text) =>
        /^(1|true)$/.test(text) ? path.join(cacheFolder(env), 'opl.log') : /^(0|false)$/.test(text) ? null : text,
    ],
  ];
  return Object.fromEntries(
    readers.filter(([, name]) => env[name]).map(([key, name, read]) => [key, read(env[name]!)]),
  );
}

/** The settings that hold, from OPTIONS (opencode.json) and the environment, which wins. Throws a Fault with code `settings`. */
export async function readSettings(options: unknown = {}, env: NodeJS.ProcessEnv = process.env): Promise<Settings> {
  const given: object = { ...((options ?? {}) as object), ...fromEnvironment(env) };
  // Loaded late: ajv costs more than all the rest of a plugin's start.
  const { validate } = await import('./channel/validate.ts');
  validate(optionsSchema, given, 'settings', 'opencode-plugin-lisp settings:');
  return {
    sbcl: 'sbcl',
    ctags: 'ctags',
    excludes: [],
    heapMegabytes: HEAP_MEGABYTES,
    stackMegabytes: STACK_MEGABYTES,
    evalSeconds: EVAL_SECONDS,
    debug: null,
    ...(given as Partial<Settings>),
  };
}

/** Appends LINE to FILE with the time before it. Never throws, never waits: a name that is a pipe, a device or a folder gets nothing. */
export function appendToLog(file: string, line: string): void {
  try {
    const stats = statOf(file);
    if (stats && !stats.isFile()) return;
    makeFolder(path.dirname(file));
    // What is asked of the sidecar stands in it.
    appendFileSync(file, `${new Date().toISOString()} ${line}\n`, { mode: 0o600 });
  } catch {
    // A log that cannot be written is no reason to fail.
  }
}

/** A function that appends to the log file, or does nothing. Never throws, never writes to the terminal. */
export function openLog(file: string | null): (text: string) => void {
  if (!file) return () => {};
  const resolved = path.resolve(file);
  return (text) => appendToLog(resolved, `${process.pid} ${text}`);
}

/** What a sidecar for ROOT (a real path) is started with. */
export function sidecarOptions(root: string, settings: Settings, log = openLog(settings.debug)): SidecarOptions {
  const folder = cacheFolder();
  const { sbcl, ctags, excludes, heapMegabytes, stackMegabytes } = settings;
  return {
    root,
    sbcl,
    ctags,
    excludes,
    heapMegabytes,
    stackMegabytes,
    cacheFolder: folder,
    indexFolder: path.join(folder, 'roots', rootKey(root)),
    log,
  };
}

/** A folder name for ROOT: readable, and unique by a hash of the real path. */
function rootKey(root: string): string {
  const name =
    path
      .basename(root)
      .replace(/[^\w.-]/g, '_')
      .slice(0, 40) || 'root';
  return `${name}-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`;
}
