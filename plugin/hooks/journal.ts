// Observations on their way to the sidecar: in order, beside the session, never in its way. While the sidecar is down they wait.

import type { Observed } from '../channel/messages.generated.ts';
import type { Host } from '../host.ts';
import { cutAtWord } from './cut.ts';
import { readHead } from './head.ts';
import { sessionState } from './sessions.ts';

/** Observations that wait for a sidecar; older ones are dropped, and how many is logged. */
const WAITING = 1000;

/** One observation takes a fraction of a millisecond; a sidecar that needs so long is not well. */
const CALL_MILLISECONDS = 5000;

/** After a failure the next try waits so long. */
const PAUSE_MILLISECONDS = 2000;

/** Characters of one text that are sent; the sidecar keeps less. Of what a command printed the end tells how tests went. */
const TEXT = 20_000;
const OUTPUT = 60_000;

export interface Observation {
  kind: Observed;
  subject?: string;
  state?: string;
  text: string;
}

interface Entry extends Observation {
  session: string;
}

/** A queue of bounded length: when it is full its oldest goes and is counted. Nothing here throws. */
export class Journal {
  readonly #host: Host;
  #waiting: Entry[] = [];
  #dropped = 0;
  #draining: Promise<void> | undefined;
  #notBefore = 0;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Takes OBSERVATION of the session; returns at once. */
  record(session: string, observation: Observation): void {
    const { kind, text } = observation;
    this.#waiting.push({
      session,
      ...observation,
      text: kind === 'output' ? text.slice(-OUTPUT) : cutAtWord(text, TEXT),
    });
    if (this.#waiting.length > WAITING) {
      this.#waiting.shift();
      this.#dropped += 1;
    }
    if (Date.now() >= this.#notBefore) void this.#drain();
  }

  /** Resolves when all that was recorded is written down, or after MILLISECONDS. Never rejects. */
  async flush(milliseconds: number): Promise<void> {
    this.#notBefore = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, milliseconds);
    });
    await Promise.race([this.#drain(), late]);
    clearTimeout(timer);
  }

  #drain(): Promise<void> {
    this.#draining ??= this.#sendAll().finally(() => {
      this.#draining = undefined;
    });
    return this.#draining;
  }

  async #sendAll(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const { session, kind, subject, state, text } = this.#waiting[0]!;
        const sidecar = await this.#host.sidecar();
        // A first start compiles the sidecar; that may take what it takes.
        await sidecar.describe();
        const { parent } = sessionState(this.#host, session);
        const reply = await sidecar.call(
          'observe',
          {
            session,
            parent: parent || null,
            head: readHead(this.#host.root) || null,
            kind,
            subject: subject || null,
            state: state || null,
            text,
          },
          { signal: AbortSignal.timeout(CALL_MILLISECONDS) },
        );
        for (const { text } of reply.remark) this.#host.log(`memory: ${text}`);
        this.#waiting.shift();
      }
      if (this.#dropped)
        this.#host.log(`memory: ${this.#dropped} observations were dropped while the sidecar was down`);
      this.#dropped = 0;
    } catch (error) {
      this.#notBefore = Date.now() + PAUSE_MILLISECONDS;
      setTimeout(() => void this.#drain(), PAUSE_MILLISECONDS).unref?.();
      this.#host.log(`memory: ${error instanceof Error ? error.message : error}`);
    }
  }
}

const journals = new WeakMap<Host, Journal>();

/** The journal of HOST. */
export function journalOf(host: Host): Journal {
  const journal = journals.get(host) ?? new Journal(host);
  journals.set(host, journal);
  return journal;
}
