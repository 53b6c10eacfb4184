// Runs one test command to its end, whatever it does: no shell unless it needs one, no standard input, no limit on its output.

import { closeSync, fstatSync, openSync, readSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { makeFolder } from '../channel/files.ts';
import type { Command } from './plan.ts';
import { runEnvironment } from './run-environment.ts';
import { type Guard, startGuard } from './run-guard.ts';
import { ProcessTree, RUN_MARK } from './run-tree.ts';

export interface RunRequest {
  readonly command: Command;
  readonly root: string;
  /** The file that takes standard output and standard error as they come. */
  readonly log: string;
  /** Set beside the command's own variables; those of the user's environment stay where `env` names them as such. */
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
  /** A shell command run when the run is ended early: for what lives outside the process tree, as in a container. */
  readonly stopCommand?: string | undefined;
  /** Watches over several runs, one after another; where there is none the run starts one of its own. */
  readonly guard?: Guard | undefined;
  /** Called when the command has been started. */
  readonly onStart?: (() => void) | undefined;
}

export interface RunProgress {
  readonly seconds: number;
  readonly octets: number;
  readonly lastLine: string;
}

export interface RunResult {
  readonly ended: 'exit' | 'timeout' | 'cancelled' | 'not-started' | 'disk-full';
  readonly exit: number | null;
  readonly signal: string | null;
  readonly seconds: number;
  readonly log: string;
  /** Why it could not be started, or what was left behind. */
  readonly message?: string;
}

const PROGRESS_MILLISECONDS = 1000;
/** Looked at this often at first, then every second: short runs start most of what they start at once. */
const FIRST_LOOKS_MILLISECONDS = [100, 300, 600];
/** Below this a full disk would harm more than the run. */
const LEAST_FREE_OCTETS = 256 * 1024 * 1024;
const LONGEST_LAST_LINE = 200;
const LEFTOVER_TURNS = 10;
const LEFTOVER_STEP_MILLISECONDS = 50;

/**
 * Runs the command and waits until it ends, its time is over or the signal aborts; by then none of its processes is left. Never rejects:
 * what went wrong is in `ended` and `message`. The listener on the signal is removed before it returns.
 */
export async function runCommand(request: RunRequest): Promise<RunResult> {
  const { log, signal } = request;
  makeFolder(dirname(log));
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 10) / 100;
  const nothing = { exit: null, signal: null, log };
  if (signal?.aborted) return { ...nothing, ended: 'cancelled', seconds: 0 };
  const out = openSync(log, 'a+');
  const guard = request.guard ?? startGuard();
  try {
    const child = startChild(request, guard.mark, out);
    const pid = child.pid;
    if (pid === undefined) {
      const failed = await child;
      return { ...nothing, ended: 'not-started', seconds: seconds(), message: startMessage(request, failed) };
    }
    guard.watch(pid, log);
    request.onStart?.();
    const tree = new ProcessTree(pid, guard.mark, log);
    const early = await waitForEnd(child, tree, request, out, seconds);
    if (early !== undefined) {
      const clean = await endEarly(tree, request);
      await Promise.race([child, sleep(PROGRESS_MILLISECONDS)]);
      return {
        ...nothing,
        ended: early,
        seconds: seconds(),
        ...(clean ? {} : { message: 'some of its processes could not be ended' }),
      };
    }
    const result = await child;
    const took = seconds();
    const left = await endLeftovers(tree);
    return {
      exit: result.exitCode ?? null,
      signal: result.signal ?? null,
      log,
      ended: 'exit',
      seconds: took,
      ...(left > 0 ? { message: `${left} of its processes still ran when it had ended, and were ended` } : {}),
    };
  } finally {
    guard.over();
    if (!request.guard) guard.dismiss();
    closeSync(out);
  }
}

function startChild({ command, root, env = {} }: RunRequest, mark: string, out: number) {
  const outer = process.env[RUN_MARK];
  const options = {
    cwd: join(root, command.cwd),
    env: {
      ...runEnvironment(root),
      ...env,
      ...command.env,
      [RUN_MARK]: outer ? `${outer}:${mark}` : mark,
    },
    stdin: 'ignore',
    // Straight to the file: nothing is held in memory, and a process that outlives the run holds no pipe of ours.
    // Its types know descriptors up to 9 alone.
    stdout: out as 9,
    stderr: out as 9,
    reject: false,
    buffer: false,
    cleanup: false,
    windowsHide: true,
    detached: process.platform !== 'win32',
  } as const;
  if (command.shell !== undefined) return execa(command.shell, { ...options, shell: true });
  const [program = '', ...args] = command.argv;
  return execa(program, args, options);
}

type Child = ReturnType<typeof startChild>;

/** undefined when the command ended by itself; else why it has to be ended. */
async function waitForEnd(
  child: Child,
  tree: ProcessTree,
  request: RunRequest,
  out: number,
  seconds: () => number,
): Promise<'timeout' | 'cancelled' | 'disk-full' | undefined> {
  const { signal, timeoutSeconds } = request;
  let settle: (why: 'timeout' | 'cancelled' | 'disk-full' | undefined) => void = () => {};
  const ended = new Promise<'timeout' | 'cancelled' | 'disk-full' | undefined>((resolve) => {
    settle = resolve;
  });
  const abort = () => settle('cancelled');
  signal?.addEventListener('abort', abort, { once: true });
  const limit = setTimeout(() => settle('timeout'), timeoutSeconds * 1000);
  const looks = FIRST_LOOKS_MILLISECONDS.map((delay) => setTimeout(() => void tree.look(), delay));
  const progress = setInterval(() => {
    void tree.look();
    request.onProgress?.({ seconds: seconds(), ...tailOf(out) });
    if (freeOctets(request.log) < LEAST_FREE_OCTETS) settle('disk-full');
  }, PROGRESS_MILLISECONDS);
  child.then(() => settle(undefined));
  try {
    return await ended;
  } finally {
    clearTimeout(limit);
    clearInterval(progress);
    for (const look of looks) clearTimeout(look);
    signal?.removeEventListener('abort', abort);
  }
}

async function endEarly(tree: ProcessTree, { stopCommand, root }: RunRequest): Promise<boolean> {
  const [clean] = await Promise.all([
    tree.end(),
    stopCommand === undefined || stopCommand === ''
      ? undefined
      : execa(stopCommand, { shell: true, cwd: root, stdio: 'ignore', reject: false, timeout: 10_000 }),
  ]);
  return clean;
}

/** After an end of its own accord only its own group is ended: build daemons that moved out of it are meant to stay. */
async function endLeftovers(tree: ProcessTree): Promise<number> {
  let left = await tree.left();
  // Some runners end before the child that writes their report does.
  for (let turn = 0; left.length > 0 && turn < LEFTOVER_TURNS; turn++) {
    await sleep(LEFTOVER_STEP_MILLISECONDS);
    left = await tree.left();
  }
  for (const pid of left) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Ended by itself.
    }
  }
  return left.length;
}

function startMessage(
  { command, root }: RunRequest,
  failed: {
    readonly code?: string | undefined;
    readonly shortMessage?: string;
    readonly originalMessage?: string | undefined;
  },
): string {
  const program = command.argv[0] ?? command.shell ?? '';
  if (failed.code === 'ENOENT') return `${program}: command not found (in ${join(root, command.cwd)})`;
  if (failed.code === 'EACCES') return `${program}: not executable`;
  return `${program}: ${failed.originalMessage ?? failed.shortMessage ?? 'could not be started'}`;
}

/** The size of the log and its last line that says something. */
function tailOf(file: number): { readonly octets: number; readonly lastLine: string } {
  const { size } = fstatSync(file);
  const buffer = Buffer.alloc(Math.min(size, 4096));
  if (buffer.length > 0) readSync(file, buffer, 0, buffer.length, size - buffer.length);
  const lines = buffer
    .toString('utf8')
    .split(/[\r\n]+/)
    .map((line) => line.trim());
  return { octets: size, lastLine: (lines.filter((line) => line !== '').at(-1) ?? '').slice(0, LONGEST_LAST_LINE) };
}

function freeOctets(file: string): number {
  try {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
