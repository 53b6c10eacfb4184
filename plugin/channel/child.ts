// Starts programs. The only file besides verify/run that does: one long-lived child whose lines are a protocol, and programs that run to their end.

import { execa } from 'execa';
import { Fault } from './fault.ts';
import { decodeLine } from './fields.ts';
import { lineStream } from './lines.ts';
import { LIMITS, PROTOCOL_VERSION } from './messages.generated.ts';

/** How long a child has to end by itself after the end of its input; the sidecar promises 2 s (protocol/README.md). */
const STOP_MILLISECONDS = 2500;

/** So much of a child's standard error is kept for messages. */
const TAIL_CHARACTERS = 4000;

/** What SBCL says when it ends for want of memory; a table of its heap and a backtrace follow, longer than what is kept. */
const EXHAUSTED = /Heap exhausted/;

export interface Greeting {
  version: string;
  lisp: string;
  pid: number;
}

export interface ChildOptions {
  program: string;
  arguments: readonly string[];
  environment?: Record<string, string>;
  /** Milliseconds until the greeting must have come. */
  greetingMilliseconds: number;
  /** Lines after the greeting. What it throws ends the child. */
  onLine(line: string): void;
  /** Standard error, as it comes. */
  onNoise?(text: string): void;
  /** Once, when the process has ended or its protocol broke; FAULT says why. */
  onEnd(fault: Fault): void;
}

export interface Finished {
  exitCode: number | undefined;
  stdout: string;
  stderr: string;
  /** The program does not exist or may not be run. */
  missing: boolean;
}

/** Runs PROGRAM to its end and returns what it wrote. Never throws; a program that does not exist is said to be missing. */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: {
    milliseconds?: number;
    environment?: Record<string, string>;
    onLine?(line: string): void;
    inherit?: boolean;
  } = {},
): Promise<Finished> {
  const child = execa(program, args, {
    stdin: options.inherit ? 'inherit' : 'ignore',
    // What an installer says belongs to the terminal, but never to our own standard output.
    ...(options.inherit ? { stdout: process.stderr, stderr: 'inherit' } : {}),
    ...(options.environment ? { env: options.environment } : {}),
    reject: false,
    stripFinalNewline: false,
    windowsHide: true,
    maxBuffer: 16_000_000,
  });
  if (options.onLine && child.stdout) lineStream(child.stdout, LIMITS.lineOctets, () => {}).on('data', options.onLine);
  const late = options.milliseconds
    ? setTimeout(() => {
        child.kill('SIGKILL');
        // What a wrapper script started holds its pipes open when the script is gone.
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, options.milliseconds)
    : undefined;
  const result = await child;
  clearTimeout(late);
  return {
    exitCode: result.exitCode,
    stdout: result.stdout ?? '',
    stderr: result.stderr ?? '',
    missing: result.code === 'ENOENT' || result.code === 'EACCES',
  };
}

/** A child that speaks the protocol. */
export class Child {
  readonly #process: ReturnType<typeof Child.spawn>;
  readonly #options: ChildOptions;
  readonly #exited: Promise<void>;
  readonly #greeted: Promise<Greeting>;
  #settleGreeting: { resolve(greeting: Greeting): void; reject(fault: Fault): void } | undefined;
  #tail = '';
  #exhausted = false;
  #fault: Fault | undefined;
  #ended = false;

  private static spawn({ program, arguments: args, environment }: ChildOptions) {
    return execa(program, args, {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
      buffer: false,
      reject: false,
      cleanup: true,
      windowsHide: true,
      ...(environment ? { env: environment } : {}),
    });
  }

  constructor(options: ChildOptions) {
    this.#options = options;
    this.#process = Child.spawn(options);
    this.#greeted = new Promise((resolve, reject) => {
      this.#settleGreeting = { resolve, reject };
    });
    this.#greeted.catch(() => {});
    this.#exited = this.#listen();
  }

  /** Resolves with the greeting; rejects when it is late, of another version, or the process ends first. */
  async greeting(): Promise<Greeting> {
    const { greetingMilliseconds } = this.#options;
    const late = setTimeout(() => {
      this.#break(
        new Fault('start', `The sidecar did not greet within ${greetingMilliseconds / 1000} s.${this.#lastWords()}`),
      );
    }, greetingMilliseconds);
    try {
      return await this.#greeted;
    } finally {
      clearTimeout(late);
    }
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  write(line: string): void {
    if (!this.#ended) this.#process.stdin.write(`${line}\n`);
  }

  /** Ends the input, waits, then kills. Resolves when the process is gone. */
  async stop(): Promise<void> {
    this.#fault ??= new Fault('ended', 'The sidecar was stopped.');
    this.#process.stdin.end();
    const force = setTimeout(() => this.#process.kill('SIGKILL'), STOP_MILLISECONDS);
    await this.#exited;
    clearTimeout(force);
  }

  /** Kills the process; FAULT is what waiting calls are told. */
  kill(fault: Fault): void {
    this.#break(fault);
  }

  async #listen(): Promise<void> {
    const { stdin, stdout, stderr } = this.#process;
    // A pipe whose reader is gone reports that as an event; without a listener it would end the host.
    for (const stream of [stdin, stdout, stderr]) stream.on('error', () => {});
    stderr.setEncoding('utf8').on('data', (text: string) => {
      const all = this.#tail + text;
      this.#exhausted ||= EXHAUSTED.test(all);
      this.#tail = all.slice(-TAIL_CHARACTERS);
      this.#options.onNoise?.(text);
    });
    const lines = lineStream(stdout, LIMITS.lineOctets, () => {
      this.#break(new Fault('protocol', 'The sidecar sent a line over the limit.'));
    });
    lines.on('data', (line: string) => this.#take(line));
    const drained = new Promise((resolve) => lines.once('end', resolve));
    const result = await this.#process;
    await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, 200))]);
    this.#end(result.code, result.exitCode, result.signal);
  }

  #take(line: string): void {
    if (this.#fault) return;
    try {
      if (this.#settleGreeting) this.#greet(line);
      else this.#options.onLine(line);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.#break(
        error instanceof Fault && error.code === 'start'
          ? error
          : new Fault('protocol', `The sidecar does not keep the contract: ${text}. Reinstall the plugin.`),
      );
    }
  }

  #greet(line: string): void {
    const [hello, protocol, version, lisp, pid] = decodeLine(line);
    if (hello !== 'hello')
      throw new Fault('start', `The sidecar greets with ${JSON.stringify(line.slice(0, 80))}.${this.#lastWords()}`);
    if (Number(protocol) !== PROTOCOL_VERSION) {
      throw new Fault(
        'start',
        `The sidecar speaks protocol ${protocol}, the host ${PROTOCOL_VERSION}: the installation is mixed; reinstall the plugin.`,
      );
    }
    this.#settleGreeting?.resolve({ version: version ?? '', lisp: lisp ?? '', pid: Number(pid) });
    this.#settleGreeting = undefined;
  }

  #break(fault: Fault): void {
    this.#fault ??= fault;
    this.#process.kill('SIGKILL');
  }

  #end(code: string | undefined, exitCode: number | undefined, signal: string | undefined): void {
    this.#ended = true;
    const fault = this.#fault ?? this.#whyEnded(code, exitCode, signal);
    this.#fault = fault;
    this.#settleGreeting?.reject(fault);
    this.#settleGreeting = undefined;
    this.#options.onEnd(fault);
  }

  #whyEnded(code: string | undefined, exitCode: number | undefined, signal: string | undefined): Fault {
    if (code === 'ENOENT' || code === 'EACCES')
      return new Fault('sbcl-missing', `${this.#options.program} cannot be run (${code}).`);
    if (this.#exhausted && !this.#settleGreeting)
      return new Fault(
        'exhausted',
        "The sidecar's memory ran out and it ended; the next call starts it again. What lisp_eval had defined is gone unless it was kept, the index and the session's memory are not. OPL_HEAP_MB gives it more.",
      );
    const how = signal ? `by ${signal}` : `with status ${exitCode}`;
    return new Fault(this.#settleGreeting ? 'start' : 'ended', `The sidecar ended ${how}.${this.#lastWords()}`);
  }

  #lastWords(): string {
    const words = this.#tail.trim();
    return words ? ` Its last words: ${words.slice(-1200)}` : '';
  }
}
