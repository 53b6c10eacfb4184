// A compaction is given the session's facts, observed and not remembered by a model; once, with the request that writes the summary.

import type { Host } from '../host.ts';
import type { HookFile } from './compose.ts';
import { inTime } from './in-time.ts';
import { journalOf } from './journal.ts';
import { type AnyEvent, sessionState } from './sessions.ts';

/** Tokens of the facts. */
const TOKENS = 1500;

/** A compaction is a request of many seconds; this is what the facts may add to it. */
const MILLISECONDS = 5000;

/** The facts of the session as text for the request that sums it up; nothing when there are none. */
export function compactionFacts(host: Host, sessionID: string): Promise<string | undefined> {
  return inTime(MILLISECONDS, factsOf(host, sessionID));
}

async function factsOf(host: Host, sessionID: string): Promise<string | undefined> {
  await journalOf(host).flush(MILLISECONDS / 2);
  const sidecar = await host.sidecar();
  const signal = AbortSignal.timeout(MILLISECONDS);
  const reply = await sidecar.call('summary', { session: sessionID, tokens: TOKENS }, { signal });
  const { text = '', facts = 0 } = reply.summary[0] ?? {};
  host.log(`compaction of ${sessionID}: ${facts} facts`);
  return facts > 0
    ? `${text}\nKeep these facts in the summary: they are exact where the conversation is not.`
    : undefined;
}

export const compaction: HookFile = (host) => ({
  async 'experimental.session.compacting'({ sessionID }, output) {
    sessionState(host, sessionID).compacting = true;
    const facts = await compactionFacts(host, sessionID);
    if (facts) output.context.push(facts);
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
