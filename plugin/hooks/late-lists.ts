// Lists that came after their turn had gone on: each stands after the first result of that turn that is about the repository.

import type { Reply } from '../channel/sidecar.ts';
import type { Host } from '../host.ts';
import { unseen } from './likely-places.ts';

/** Tools after whose result a late list may stand: those by which a model looks around. */
export const LOOKING: ReadonlySet<string> = new Set(['grep', 'glob', 'list', 'read', 'bash']);

/** Late lists by session. One at most: the next turn asks anew. */
export class LateLists {
  readonly #waiting = new Map<string, { reply?: Reply<'places'>; text: string }>();

  /** Keeps what WORK comes to for SESSION's turn that says TEXT, in place of what an earlier turn has left. */
  keep(session: string, text: string, work: Promise<Reply<'places'>>): void {
    const entry: { reply?: Reply<'places'>; text: string } = { text };
    this.#waiting.set(session, entry);
    work.then(
      (reply) => {
        entry.reply = reply;
      },
      () => {
        if (this.#waiting.get(session) === entry) this.#waiting.delete(session);
      },
    );
  }

  /** The list for SESSION that has come since, once. */
  take(host: Host, session: string): string | undefined {
    const { reply, text } = this.#waiting.get(session) ?? {};
    if (!reply) return undefined;
    this.#waiting.delete(session);
    return unseen(host, session, text!, reply);
  }

  /** What SESSION still waits for is not wanted any more. */
  drop(session: string): void {
    this.#waiting.delete(session);
  }
}
