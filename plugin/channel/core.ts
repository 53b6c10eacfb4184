// What the sidecar is started from: a core in the user's cache, built on first use; the sources when there is nowhere to keep one.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { runProgram } from './child.ts';
import { Fault } from './fault.ts';
import { makeFolder, statOf } from './files.ts';
import { underLock } from './lock.ts';

/** The plugin's own folder: above plugin/channel in a checkout, above dist/channel in the package. */
export const PACKAGE_FOLDER = path.resolve(import.meta.dirname, '../..');

/** Cores of other builds that are kept (some 40 MB each), newest first. */
const KEPT_CORES = 3;

/** A build takes seconds; a lock so old belongs to one that was killed. */
const STALE_MILLISECONDS = 600_000;

/** Compiled files older than this go when a new core was built. */
const COMPILED_MILLISECONDS = 30 * 24 * 3600 * 1000;

export interface CoreOptions {
  sbcl: string;
  /** The plugin's cache folder of this user. */
  cacheFolder: string;
  heapMegabytes: number;
  stackMegabytes: number;
  onProgress?: ((stage: string, done: number, total: number) => void) | undefined;
}

export interface Launch {
  /** For sbcl, up to the sidecar's own. */
  arguments: string[];
  /** How long a start may take. */
  greetingMilliseconds: number;
  /** Where the core lies; nothing when the sidecar starts from its sources. */
  core: string | null;
  /** Something the user should know. */
  note: string | null;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(lisp|asd|tsv)$/.test(name))
    .sort()
    .map((name) => path.join(folder, name));
}

/** Changes with everything a core is made of, the sbcl program included: one rebuilt under the same version refuses foreign cores. */
function sourceHash(sbcl: string): string {
  const hash = createHash('sha256');
  const files = [
    ...sourceFiles(path.join(PACKAGE_FOLDER, 'sidecar')),
    path.join(PACKAGE_FOLDER, 'protocol/protocol.tsv'),
  ];
  for (const file of files)
    hash.update(path.relative(PACKAGE_FOLDER, file)).update('\0').update(readFileSync(file)).update('\0');
  const program = findProgram(sbcl);
  if (program) {
    const { size, mtimeMs } = statSync(program);
    hash.update(`${program}\0${size}\0${mtimeMs}`);
  }
  return hash.digest('hex').slice(0, 16);
}

/** The version that package.json states: what the core must say of itself as well. */
export function packageVersion(): string {
  return JSON.parse(readFileSync(path.join(PACKAGE_FOLDER, 'package.json'), 'utf8')).version;
}

/** The real path of PROGRAM as the shell would find it, or nothing. */
export function findProgram(program: string): string | null {
  const names = process.platform === 'win32' ? [program, `${program}.exe`] : [program];
  const folders =
    program.includes('/') || program.includes(path.sep) ? [''] : (process.env.PATH ?? '').split(path.delimiter);
  for (const folder of folders) {
    for (const name of names) {
      const candidate = path.resolve(folder, name);
      if (existsSync(candidate) && statSync(candidate).isFile()) return realpathSync(candidate);
    }
  }
  return null;
}

/** SBCL's version, e.g. `2.2.9.debian`. Throws a Fault when there is no sbcl. */
export async function sbclVersion(sbcl: string): Promise<string> {
  const { stdout, missing, exitCode, stderr } = await runProgram(sbcl, ['--version'], { milliseconds: 10_000 });
  const version = /^SBCL (\S+)/.exec(stdout)?.[1];
  if (version) return version;
  throw new Fault(
    'sbcl-missing',
    missing ? `${sbcl} was not found.` : `${sbcl} --version ended with ${exitCode}: ${(stderr + stdout).slice(0, 200)}`,
  );
}

function runtimeArguments({ heapMegabytes, stackMegabytes }: CoreOptions): string[] {
  return [
    '--noinform',
    ...['--dynamic-space-size', `${heapMegabytes}MB`],
    ...['--control-stack-size', `${stackMegabytes}MB`],
    // A heap that ran full ends the process, which the host sees, instead of a prompt that nobody answers.
    '--disable-ldb',
    '--lose-on-corruption',
    '--no-merge-core-pages',
  ];
}

function fromCore(core: string, options: CoreOptions): Launch {
  return {
    arguments: ['--core', core, ...runtimeArguments(options), '--end-runtime-options'],
    greetingMilliseconds: 20_000,
    core,
    note: null,
  };
}

function fromSources(options: CoreOptions, note: string): Launch {
  return {
    arguments: [
      ...runtimeArguments(options),
      '--end-runtime-options',
      ...['--non-interactive', '--no-sysinit', '--no-userinit'],
      ...[
        '--load',
        path.join(PACKAGE_FOLDER, 'sidecar/load.lisp'),
        '--eval',
        '(opl.wire.server:main)',
        '--end-toplevel-options',
      ],
    ],
    greetingMilliseconds: 180_000,
    core: null,
    note,
  };
}

/** What to start the sidecar with. Builds a core when there is none, once however many processes ask. Throws a Fault. */
export async function prepareLaunch(options: CoreOptions): Promise<Launch> {
  // sbcl starts while the sources are read: each takes some ten milliseconds.
  const asked = sbclVersion(options.sbcl);
  asked.catch(() => {});
  const hash = sourceHash(options.sbcl);
  const version = (await asked).replace(/[^\w.-]/g, '_');
  const cores = path.join(options.cacheFolder, 'cores');
  const folder = path.join(cores, `${packageVersion()}-sbcl-${version}-${hash}`);
  const core = path.join(folder, 'sidecar.core');
  if (existsSync(core)) {
    touch(folder);
    return fromCore(core, options);
  }
  try {
    makeFolder(folder);
    await underLock(`${folder}.lock`, STALE_MILLISECONDS, async () => {
      if (!existsSync(core)) await build(core, options);
    });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (
      code !== 'no-space' &&
      !['EACCES', 'EROFS', 'ENOENT', 'ENOSPC', 'EPERM', 'ENOTDIR', 'EDQUOT', 'EEXIST', 'ENAMETOOLONG'].includes(
        code ?? '',
      )
    )
      throw error;
    return fromSources(
      options,
      `Nothing can be written under ${options.cacheFolder} (${code}), so each start compiles the sidecar anew. Make it writable, or set XDG_CACHE_HOME.`,
    );
  }
  prune(cores, path.basename(folder));
  pruneCompiled(path.join(options.cacheFolder, 'fasl'));
  return fromCore(core, options);
}

function touch(folder: string): void {
  try {
    utimesSync(folder, new Date(), new Date());
  } catch {
    // A read-only cache serves as well.
  }
}

async function build(core: string, options: CoreOptions): Promise<void> {
  const { sbcl, cacheFolder, onProgress } = options;
  const { exitCode, stderr, stdout } = await runProgram(
    sbcl,
    [
      // A core starts 0.15 s sooner with the heap size that it was saved with: SBCL writes the size into all compiled code.
      ...runtimeArguments(options),
      '--end-runtime-options',
      ...['--non-interactive', '--no-sysinit', '--no-userinit'],
      ...['--load', path.join(PACKAGE_FOLDER, 'sidecar/build.lisp'), '--end-toplevel-options', core],
    ],
    {
      milliseconds: STALE_MILLISECONDS,
      environment: { OPL_FASL_DIR: process.env.OPL_FASL_DIR ?? path.join(cacheFolder, 'fasl') },
      onLine: (line) => {
        const [word, done, total] = line.split('\t');
        if (word === 'progress') onProgress?.('compiling', Number(done), Number(total));
      },
    },
  );
  if (exitCode === 0 && existsSync(core)) return;
  if (/No space left|ENOSPC|Disk quota/i.test(stderr + stdout))
    throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
  // build.lisp ends with one line that says why; what the compiler said before it is for whoever mends it.
  const words = /^no core: (.*)$/m.exec(stderr)?.[1] ?? (stderr.trim() || stdout.trim()).slice(-600);
  throw new Fault('start', `The sidecar does not compile with this SBCL (2.2.9 or newer is wanted): ${words}`);
}

/** Deletes the cores that were not used for longest. */
function prune(cores: string, own: string): void {
  try {
    const others = readdirSync(cores)
      .filter((name) => name !== own && !name.endsWith('.lock'))
      .map((name) => ({ name, used: statSync(path.join(cores, name)).mtimeMs }))
      .sort((a, b) => b.used - a.used);
    for (const { name } of others.slice(KEPT_CORES)) rmSync(path.join(cores, name), { recursive: true, force: true });
  } catch {
    // Another process prunes too.
  }
}

/** Deletes compiled files that no build of late has made: each version leaves some ten megabytes of them, and making one again costs a second. */
function pruneCompiled(folder: string, now = Date.now()): void {
  try {
    for (const name of readdirSync(folder)) {
      const file = path.join(folder, name);
      if (now - (statOf(file)?.mtimeMs ?? now) > COMPILED_MILLISECONDS) rmSync(file, { force: true });
    }
  } catch {
    // There is none, or another process prunes too.
  }
}
