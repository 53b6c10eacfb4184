// A compaction is given the session's facts, observed and not remembered by a model; once, with the request that writes the summary.

import type { HookFile } from './compose.ts';
import { journalOf } from './journal.ts';
import { type AnyEvent, sessionState } from './sessions.ts';

/** Tokens of the facts. */
const TOKENS = 1500;

/** A compaction is a request of many seconds; this is what the facts may add to it. */
const MILLISECONDS = 5000;

export const compaction: HookFile = (host) => ({
  async 'experimental.session.compacting'({ sessionID }, output) {
    const state = sessionState(host, sessionID);
    state.compacting = true;
    await journalOf(host).flush(MILLISECONDS / 2);
    const sidecar = await host.sidecar();
    const reply = await sidecar.call(
      'summary',
      { session: sessionID, tokens: TOKENS },
      { signal: AbortSignal.timeout(MILLISECONDS) },
    );
    const { text = '', facts = 0 } = reply.summary[0] ?? {};
    host.log(`compaction of ${sessionID}: ${facts} facts`);
    if (facts === 0) return;
    output.context.push(`${text}\nKeep these facts in the summary: they are exact where the conversation is not.`);
  },
  async event({ event }) {
    if ((event as AnyEvent).type !== 'session.compacted') return;
    const { sessionID } = ((event as AnyEvent).properties ?? {}) as { sessionID?: string };
    if (!sessionID) return;
    const state = sessionState(host, sessionID);
    state.compacting = false;
    // What was listed is gone from the model's sight.
    state.seen.clear();
    journalOf(host).record(sessionID, { kind: 'compacted', text: '' });
  },
});
