// The facts that a handover's request carries: of the session, or of the one before it.

import type { Host } from '../host.ts';
import { REQUEST_TOKENS } from './handover-policy.ts';
import { renderFacts } from './handover-text.ts';
import { inTime } from './in-time.ts';
import { journalOf } from './journal.ts';

/** What the facts of a request may take of a step's time. */
const MILLISECONDS = 5000;

/** Tokens of a request without its facts. */
const FRAME_TOKENS = 500;

/** The facts of SESSION as text; of the one before it where it has done nothing yet, so that one that was killed can still be handed over. Rejects when it takes too long. */
export function handoverFacts(host: Host, session: string): Promise<string> {
  return inTime(MILLISECONDS, facts(host, session));
}

async function facts(host: Host, session: string): Promise<string> {
  await journalOf(host).flush(MILLISECONDS / 2);
  const sidecar = await host.sidecar();
  const signal = AbortSignal.timeout(MILLISECONDS);
  const call = (id: string) =>
    sidecar.call('handover-facts', { session: id, tokens: REQUEST_TOKENS - FRAME_TOKENS }, { signal });
  const own = await call(session);
  if (own.fact.some((fact) => !fact.section.startsWith('Requests'))) return renderFacts(own);
  const { session: sessions } = await sidecar.call('sessions', {}, { signal });
  const before = sessions.find((other) => other.id !== session && !other.parent && other.observations > 0);
  if (!before) return renderFacts(own);
  return `Of the session before this one (${before.id}):\n${renderFacts(await call(before.id))}`;
}
