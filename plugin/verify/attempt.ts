// One command, run and understood.

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join, relative } from 'node:path';
import { makeFolder } from '../channel/files.ts';
import type { Ran } from './answer.ts';
import { oneOfParts, partsOf, withoutTasks } from './build-output.ts';
import { under } from './folder.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import type { Failure, ParsedLog } from './outcome-types.ts';
import type { Command, Plan, TestChoice } from './plan.ts';
import { askForReport, reportFiles, together } from './report.ts';
import { type RunProgress, type RunResult, runCommand } from './run.ts';
import { capture } from './run-capture.ts';
import type { Guard } from './run-guard.ts';
import type { Seams } from './seams.ts';
import { rowOf } from './select.ts';
import { NO_TEXT, showCommand, shown } from './words.ts';

/** What all attempts of one verification share. */
export interface Bench {
  readonly root: string;
  readonly seams: Seams;
  /** Where captured outputs and reports go. */
  readonly spool: string;
  readonly signal?: AbortSignal | undefined;
  readonly stopCommand?: string | undefined;
  readonly onProgress?: ((command: string, progress: RunProgress) => void) | undefined;
  readonly guard?: Guard | undefined;
  /** Called when a command has been started. */
  readonly onStart?: (() => void) | undefined;
  /** Milliseconds of performance.now() after which nothing may run; put off by what is not the tests' own time. */
  deadline: number;
}

export interface Attempt {
  readonly plan: Plan;
  readonly command: Command;
  readonly scope: 'targeted' | 'full';
  readonly tests: readonly TestChoice[];
  readonly ran: Ran;
  readonly run: RunResult;
  readonly outcome: Outcome;
}

/** Captured outputs of so many verifications are kept, for those who want to read on. */
const KEPT_RUNS = 20;
const TAIL_OCTETS = 4000;
const TAIL_LINES = 30;

/** A new folder for the outputs of one verification in PARENT, where older ones are removed; among the temporary files where PARENT cannot be written. */
export function newSpool(parent: string): string {
  try {
    makeFolder(parent);
    const old = readdirSync(parent)
      .filter((name) => /^\d{13}-/.test(name))
      .sort();
    for (const name of old.slice(0, Math.max(0, old.length - KEPT_RUNS + 1)))
      rmSync(join(parent, name), { recursive: true, force: true });
    const folder = join(parent, `${Date.now()}-${process.pid}-${randomBytes(3).toString('hex')}`);
    mkdirSync(folder);
    return folder;
  } catch {
    // A cache that is read-only, full or below a file is no reason not to run the tests.
    return mkdtempSync(join(tmpdir(), 'opl-verify-'));
  }
}

let attempts = 0;

/** Runs COMMAND and reads what it said. Never rejects for what the command does. */
export async function attempt(
  bench: Bench,
  plan: Plan,
  command: Command,
  scope: Attempt['scope'],
  tests: readonly TestChoice[],
  root = bench.root,
): Promise<Attempt> {
  attempts += 1;
  const into = join(bench.spool, `${attempts}`);
  const asked = askForReport(plan, command, into, scope === 'full');
  const began = Date.now();
  const shown = showCommand(command);
  const run = await runCommand({
    command: asked.command,
    root,
    log: join(into, 'output.log'),
    timeoutSeconds: Math.max(0.1, (bench.deadline - performance.now()) / 1000),
    signal: bench.signal,
    stopCommand: bench.stopCommand,
    guard: bench.guard,
    onStart: bench.onStart,
    onProgress: (progress) => bench.onProgress?.(shown, progress),
  });
  const ended = performance.now();
  const name = rowOf(plan)?.name;
  const read = (file: string, exit = run.exit) => bench.seams.failures(file, name, exit);
  const faults: string[] = [];
  const orNothing = (error: unknown): undefined =>
    void faults.push(error instanceof Error ? error.message : String(error));
  const reports = run.ended === 'not-started' ? [] : reportFiles(asked, root, began);
  const [text, report] = await Promise.all([
    run.ended === 'not-started' ? undefined : readText(plan.runner, run, read, orNothing),
    Promise.all(reports.map((file) => read(file).catch(orNothing))).then(together),
  ]);
  // The first text may wait for the sidecar to be compiled, which is not the tests' time.
  bench.deadline += performance.now() - ended;
  const outcome = withoutTasks(outcomeOf(run, text, report, tailOf(run.log)), plan.runner, run.log, run.exit);
  const failures = await Promise.all(outcome.failures.map((failure) => placed(failure, root, plan)));
  const { verdict, passed, failed, skipped } = outcome;
  return {
    plan,
    command,
    scope,
    tests,
    run,
    outcome: {
      ...outcome,
      failures,
      notes: [
        ...outcome.notes,
        ...faults
          .slice(0, 1)
          .map((fault) => `the output could not be read: ${fault} (opl doctor says what is missing)`),
      ],
    },
    ran: { command: shown, scope, verdict, passed, failed, skipped, seconds: run.seconds, exit: run.exit },
  };
}

/** What the output says: as a whole, or task by task, where the end of the whole says nothing of one of them. */
async function readText(
  runner: string,
  run: RunResult,
  read: (file: string, exit: number | null) => Promise<ParsedLog | undefined>,
  orNothing: (error: unknown) => undefined,
): Promise<ParsedLog | undefined> {
  const parts = partsOf(runner, run.log);
  if (parts.length === 1) return read(run.log, run.exit).catch(orNothing);
  return oneOfParts(await Promise.all(parts.map((part) => read(part, null).catch(orNothing))));
}

/** The last lines of a log, colours left out; runs of lines that are no text are one. */
export function tailOf(log: string, octets = TAIL_OCTETS, most = TAIL_LINES): string {
  if (!existsSync(log)) return '';
  const file = openSync(log, 'r');
  try {
    const { size } = fstatSync(file);
    const buffer = Buffer.alloc(Math.min(size, octets));
    readSync(file, buffer, 0, buffer.length, size - buffer.length);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character starts a colour
    const text = buffer.toString('utf8').replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '');
    const lines = text.split(/\r?\n|\r/).map((line) => shown(line.trimEnd()));
    return lines
      .filter((line, at) => line !== '' && !(line === NO_TEXT && lines[at + 1] === NO_TEXT))
      .slice(-most)
      .join('\n');
  } finally {
    closeSync(file);
  }
}

const listings = new Map<string, Promise<readonly string[]>>();

function filesOf(root: string): Promise<readonly string[]> {
  let listing = listings.get(root);
  if (!listing) {
    listing = capture('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root }).then(
      (text) => (text ?? '').split('\0'),
    );
    listings.set(root, listing);
    // One verification: files come and go between two.
    setTimeout(() => listings.delete(root), 5000).unref();
  }
  return listing;
}

/** A failure whose paths are the project's, relative to the root. A bare file name (go, the JVM) is looked for; one alone is it. */
async function placed(failure: Failure, root: string, plan: Plan): Promise<Failure> {
  const frames = await Promise.all(
    failure.frames.map(async (frame) => ({ ...frame, path: await rootPath(frame.path, root, plan.cwd) })),
  );
  return { ...failure, path: failure.path === null ? null : await rootPath(failure.path, root, plan.cwd), frames };
}

async function rootPath(path: string, root: string, cwd: string): Promise<string> {
  const plain = path.replace(/^file:\/\//, '').replaceAll('\\', '/');
  if (isAbsolute(plain)) {
    const inside = relative(root, plain).replaceAll('\\', '/');
    return inside.startsWith('../') ? plain : inside;
  }
  const trimmed = plain.replace(/^\.\//, '');
  for (const candidate of [under(cwd, trimmed), trimmed]) if (existsSync(join(root, candidate))) return candidate;
  const found = (await filesOf(root)).filter((file) => file === trimmed || file.endsWith(`/${trimmed}`));
  return found.length === 1 ? (found[0] as string) : trimmed;
}
