// The only door to the sidecar: a typed call(). Starts it when first asked, once per root whatever the number of sessions, and again after it died.

import path from 'node:path';
import { noteUse, pruneRoots } from './caches.ts';
import { Child, type Greeting } from './child.ts';
import { type CoreOptions, type Launch, prepareLaunch } from './core.ts';
import { cancelledFault, Fault } from './fault.ts';
import {
  type OperationName,
  type Operations,
  operations,
  type StructureName,
  type Structures,
} from './messages.generated.ts';
import { Pending } from './pending.ts';
import { decodeRow, encodeArguments } from './rows.ts';

export { Fault } from './fault.ts';

/** After the n-th start in a row that came to nothing the next waits so long (milliseconds); the first two are free. */
const BACK_OFF = [0, 0, 1000, 2000, 5000, 10_000, 30_000];

/** What an operation answers: its rows by structure, each list in wire order. */
export type Reply<O extends OperationName> = { [S in Operations[O]['rows']]: Structures[S][] };

export interface CallOptions {
  signal?: AbortSignal | undefined;
  onProgress?: ((stage: string, done: number, total: number) => void) | undefined;
  /** Takes each row as escaped fields instead of having it decoded, for answers of a million rows. */
  onFields?: (structure: StructureName, fields: readonly string[]) => void;
  /** Milliseconds after which the sidecar is taken for stuck and is killed. For calls that carry a deadline of their own. */
  stuckAfter?: number;
}

export interface SidecarOptions extends Omit<CoreOptions, 'onProgress'> {
  /** The real path of the root. */
  root: string;
  ctags: string;
  excludes: readonly string[];
  /** Where this root's index is kept. */
  indexFolder: string;
  log: (text: string) => void;
  /** In place of sbcl and a core: for tests with other programs. */
  launch?: () => Promise<Launch & { program: string }>;
}

interface Running {
  child: Child;
  pending: Pending;
  greeting: Greeting;
  launch: Launch;
}

export class Sidecar {
  readonly options: SidecarOptions;
  #running: Promise<Running> | undefined;
  /** Starts, and runs without one good answer, in a row. */
  #failures = 0;
  #notBefore = 0;
  #lastFault: Fault | undefined;
  #stopped = false;
  /** The process that was started last, from its first moment on. */
  #child: Child | undefined;

  constructor(options: SidecarOptions) {
    this.options = options;
  }

  /** Asks for OPERATION. Rejects with a Fault; a sidecar that has died is started again first. */
  async call<O extends OperationName>(
    operation: O,
    args: Operations[O]['arguments'],
    { signal, onProgress, onFields, stuckAfter }: CallOptions = {},
  ): Promise<Reply<O>> {
    const fields = encodeArguments(operation, args);
    const { child, pending } = await unlessAborted(this.#started(onProgress), signal);
    const reply = Object.fromEntries(operations[operation].rows.map((name) => [name, [] as unknown[]]));
    const onRow =
      onFields ??
      ((structure: StructureName, values: readonly string[]) =>
        void reply[structure]!.push(decodeRow(structure, values)));
    const stuck = stuckAfter
      ? setTimeout(
          () =>
            child.kill(
              new Fault('deadline', `The sidecar did not answer within ${stuckAfter / 1000} s and was restarted.`),
            ),
          stuckAfter,
        )
      : undefined;
    try {
      const send = () => pending.send(operation, fields, { onRow, onProgress }, signal);
      await send().catch(async (fault) => {
        if (!(fault instanceof Fault) || fault.code !== 'not-open') throw fault;
        // What kept the root from being opened may have been mended since, by installing ctags for one.
        await this.#open(pending);
        await send();
      });
      this.#failures = 0;
    } catch (fault) {
      // Code that cannot be stopped keeps its thread for ever, and later evaluations wait behind it.
      if (fault instanceof Fault && fault.code === 'stuck') {
        child.kill(fault);
        if ((await this.#running?.catch(() => undefined))?.child === child) this.#running = undefined;
      }
      throw fault;
    } finally {
      clearTimeout(stuck);
    }
    return reply as unknown as Reply<O>;
  }

  /** Starts the sidecar when it does not run; what it said of itself and what it was started from. */
  async describe(): Promise<Greeting & Launch> {
    const { greeting, launch } = await this.#started();
    return { ...greeting, ...launch };
  }

  /** Ends the sidecar; later calls are refused. One that never greets or never opens its root is not waited for. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (!this.#child) await this.#running?.catch(() => undefined);
    await this.#child?.stop();
  }

  async #started(onProgress?: CallOptions['onProgress']): Promise<Running> {
    if (this.#stopped) throw new Fault('ended', 'This sidecar was stopped with its session.');
    if (!this.#running) {
      const wait = this.#notBefore - Date.now();
      if (wait > 0 && this.#lastFault) {
        const { code, message } = this.#lastFault;
        throw new Fault(
          code,
          `${message} (It failed ${this.#failures} times in a row; the next start is tried in ${Math.ceil(wait / 1000)} s.)`,
        );
      }
      const starting = this.#start(onProgress);
      this.#running = starting;
      starting.catch((fault) => this.#failed(starting, fault));
    }
    return this.#running;
  }

  #failed(which: Promise<Running>, fault: Fault): void {
    if (this.#running !== which) return;
    this.#running = undefined;
    this.#lastFault = fault;
    // A missing program costs nothing to look for again, and the user may be installing it right now.
    if (fault.code === 'sbcl-missing') return;
    this.#failures += 1;
    this.#notBefore = Date.now() + BACK_OFF[Math.min(this.#failures, BACK_OFF.length - 1)]!;
  }

  async #start(onProgress?: CallOptions['onProgress']): Promise<Running> {
    const { log, root, sbcl } = this.options;
    const launch = this.options.launch
      ? await this.options.launch()
      : { program: sbcl, ...(await prepareLaunch({ ...this.options, onProgress })) };
    if (this.#stopped) throw new Fault('ended', 'This sidecar was stopped with its session.');
    if (launch.note) log(launch.note);
    const self = { running: undefined as Promise<Running> | undefined };
    const pending = new Pending(
      (line) => {
        log(`> ${line.slice(0, 400)}`);
        child.write(line);
      },
      (level, text) => log(`${level}: ${text}`),
    );
    const child = new Child({
      program: launch.program,
      arguments: [...launch.arguments, '--root', root],
      greetingMilliseconds: launch.greetingMilliseconds,
      onLine: (line) => pending.take(line),
      onNoise: (text) => log(`sbcl: ${text.trimEnd()}`),
      onEnd: (fault) => {
        log(fault.message);
        pending.failAll(fault);
        if (self.running) this.#failed(self.running, fault);
      },
    });
    this.#child = child;
    const greeting = await child.greeting();
    log(`sidecar ${greeting.version}, SBCL ${greeting.lisp}, pid ${greeting.pid}`);
    self.running = this.#running;
    noteUse(this.options.indexFolder, root);
    await this.#attach(pending).catch((fault) => log(`attach: ${fault.message}`));
    // Without an index the image still evaluates; what needs one asks again and then says why there is none.
    await this.#open(pending).catch((fault) => log(`open: ${fault.message}`));
    const { indexFolder } = this.options;
    for (const folder of pruneRoots(path.dirname(indexFolder), indexFolder)) log(`unused for long, removed: ${folder}`);
    return { child, pending, greeting, launch };
  }

  async #attach(pending: Pending): Promise<void> {
    const { indexFolder, log } = this.options;
    const onRow = (_: StructureName, [text]: readonly string[]) => log(`attach: ${text}`);
    await pending.send('attach', encodeArguments('attach', { cache: indexFolder }), { onRow });
  }

  async #open(pending: Pending): Promise<void> {
    const { root, ctags, indexFolder, excludes } = this.options;
    const fields = encodeArguments('open', { root, ctags, cache: indexFolder, excludes: [...excludes] });
    await pending.send('open', fields, { onRow: () => {} });
  }
}

/** Settles as WORK does, or rejects as soon as SIGNAL aborts. WORK goes on: it may be a start that others wait for. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(cancelledFault());
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
