// Which processes belong to a run, and how all of them end, those too that left its process group or ignore TERM.

import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';

/** The variable by which every process of a run is known; nested runs append theirs, so an outer one finds the inner ones. */
export const RUN_MARK = 'OPL_RUN_ID';

/** Between TERM and KILL: a test runner that handles TERM is done by then, and a run is gone 5 s after its limit. */
const GRACE_MILLISECONDS = 1000;

/** A tree that still makes new processes after so long of killing them cannot be ended by us. */
const PATIENCE_MILLISECONDS = 4000;

const STEP_MILLISECONDS = 50;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Told apart from a later process of the same number. */
  readonly started: string;
  readonly marked: boolean;
}

/** What every process of a run inherits, and few give up both: the mark in the environment, and the log as standard output or error. */
interface Inherited {
  readonly mark: string;
  readonly log: string;
}

/** The processes of one run: found by ancestry, group, session and what they inherit, remembered while they live. */
export class ProcessTree {
  readonly #root: number;
  readonly #inherited: Inherited;
  readonly #known = new Map<number, string>();
  /** Groups and sessions that processes of the run made for themselves. */
  readonly #groups = new Set<number>();

  /** The run that began with ROOT, with this MARK in its environment; it writes into LOG. */
  constructor(root: number, mark: string, log: string) {
    this.#root = root;
    this.#inherited = { mark, log: realpathSync(log) };
    this.#groups.add(root);
  }

  /** Notes what has been started so far, so that it is known when its parent is gone. Cheap enough for every second. */
  async look(): Promise<void> {
    if (process.platform !== 'win32') this.#members(await processes(undefined));
  }

  /** Members that live now, the root included. */
  async alive(): Promise<readonly number[]> {
    if (process.platform === 'win32') return isAlive(this.#root) ? [this.#root] : [];
    return this.#members(await processes(this.#inherited)).map(({ pid }) => pid);
  }

  /** Those of its own process group alone: what a command left running that did not mean to outlive it. */
  async left(): Promise<readonly number[]> {
    if (process.platform === 'win32' || !isAlive(-this.#root)) return [];
    return (await processes(undefined)).filter(({ group }) => group === this.#root).map(({ pid }) => pid);
  }

  /** Ends every member: TERM, then KILL until none is found. False when some could not be ended. */
  async end(): Promise<boolean> {
    if (process.platform === 'win32') return this.#endOnWindows();
    const deadline = Date.now() + GRACE_MILLISECONDS;
    signal(await this.alive(), 'SIGTERM');
    while (Date.now() < deadline && (await this.alive()).length > 0) await sleep(STEP_MILLISECONDS);
    const last = Date.now() + PATIENCE_MILLISECONDS;
    for (let quiet = 0; Date.now() < last; ) {
      const members = await this.alive();
      quiet = members.length === 0 ? quiet + 1 : 0;
      // Twice in a row: one may have been between fork and the listing of it.
      if (quiet === 2) return true;
      signal(members, 'SIGKILL');
      await sleep(members.length === 0 ? 5 : STEP_MILLISECONDS / 2);
    }
    return false;
  }

  async #endOnWindows(): Promise<boolean> {
    await execa('taskkill', ['/PID', String(this.#root), '/T', '/F'], {
      reject: false,
      stdio: 'ignore',
      windowsHide: true,
    });
    return !isAlive(this.#root);
  }

  #members(all: readonly Process[]): readonly Process[] {
    const chosen = new Map<number, Process>();
    for (const one of all) {
      if (
        one.marked ||
        one.pid === this.#root ||
        this.#groups.has(one.group) ||
        this.#groups.has(one.session) ||
        this.#known.get(one.pid) === one.started
      )
        chosen.set(one.pid, one);
    }
    for (let grown = true; grown; ) {
      grown = false;
      for (const one of all) {
        if (chosen.has(one.pid) || !chosen.has(one.parent)) continue;
        chosen.set(one.pid, one);
        grown = true;
      }
    }
    chosen.delete(process.pid);
    for (const one of chosen.values()) {
      this.#known.set(one.pid, one.started);
      // A group or session whose leader is a member is the run's own.
      if (chosen.has(one.group)) this.#groups.add(one.group);
      if (chosen.has(one.session)) this.#groups.add(one.session);
    }
    return [...chosen.values()];
  }
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // Gone in the meantime, which is what was wanted.
    }
  }
}

/** A process, or with its number negated a process group. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** All processes of this machine that still run; `marked` is only looked up when INHERITED is given, since it costs some reads each. */
async function processes(inherited: Inherited | undefined): Promise<readonly Process[]> {
  return process.platform === 'linux' ? fromProc(inherited) : fromPs(inherited?.mark);
}

function fromProc(inherited: Inherited | undefined): readonly Process[] {
  const all: Process[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      // The program's name stands in parentheses and may hold blanks and parentheses itself.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (fields[0] === 'Z' || fields[0] === 'X') continue;
      all.push({
        pid: Number(name),
        parent: Number(fields[1]),
        group: Number(fields[2]),
        session: Number(fields[3]),
        started: fields[19] ?? '',
        marked: inherited !== undefined && (isMarked(name, inherited.mark) || writesInto(name, inherited.log)),
      });
    } catch {
      // It ended between the listing and the read.
    }
  }
  return all;
}

function isMarked(pid: string, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark);
  } catch {
    return false;
  }
}

/** A daemon that emptied its environment and left its session may still hold the file that its output goes to. */
function writesInto(pid: string, log: string): boolean {
  return ['1', '2'].some((descriptor) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${descriptor}`) === log;
    } catch {
      return false;
    }
  });
}

/** macOS and the BSDs; `-E` shows the environment of the user's own processes behind the command. */
async function fromPs(mark: string | undefined): Promise<readonly Process[]> {
  const { stdout } = await execa('ps', ['-axEww', '-o', 'pid=,ppid=,pgid=,sess=,stat=,lstart=,command='], {
    reject: false,
    stdin: 'ignore',
    stderr: 'ignore',
  });
  const rows = String(stdout ?? '').split('\n');
  return rows.flatMap((row) => {
    const found = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s(.*)$/.exec(row);
    if (!found || found[5]?.startsWith('Z')) return [];
    return [
      {
        pid: Number(found[1]),
        parent: Number(found[2]),
        group: Number(found[3]),
        session: Number(found[4]) || 0,
        started: found[6] as string,
        marked: mark !== undefined && (found[7] as string).includes(mark),
      },
    ];
  });
}
