// What the hooks know of each session of a host, from OpenCode's events: its parent, its model's limits, what it has used.

import type { Event, Model } from '@opencode-ai/sdk';
import type { Host } from '../host.ts';

/** Sessions remembered at once; the one longest untouched goes first. */
const SESSIONS = 200;

export interface SessionState {
  readonly id: string;
  /** The session that started this one as a subagent. */
  parent: string;
  model: { providerID: string; modelID: string; context: number; output: number } | undefined;
  /** About the tokens of its system prompt, and the characters they were counted of. */
  systemTokens: number;
  systemSize: number;
  /** True from the compaction hook until OpenCode says that the session is compacted. */
  compacting: boolean;
  /** Paths that were shown or touched, so that nothing is listed twice. */
  readonly seen: Set<string>;
}

const books = new WeakMap<Host, Map<string, SessionState>>();

/** The state of the session ID, made when it is first asked for. */
export function sessionState(host: Host, id: string): SessionState {
  const book = books.get(host) ?? new Map<string, SessionState>();
  books.set(host, book);
  const known = book.get(id);
  const state = known ?? {
    id,
    parent: '',
    model: undefined,
    systemTokens: 0,
    systemSize: 0,
    compacting: false,
    seen: new Set<string>(),
  };
  book.delete(id);
  book.set(id, state);
  if (book.size > SESSIONS) book.delete(book.keys().next().value!);
  return state;
}

/** An event as it arrives; OpenCode's own type lacks several that it sends. */
export interface AnyEvent {
  type: string;
  properties?: Record<string, unknown>;
}

/** Takes from EVENT what is to be known of its session. */
export function noteEvent(host: Host, event: AnyEvent | Event): void {
  if (event.type !== 'session.created' && event.type !== 'session.updated') return;
  const { info } = ((event as AnyEvent).properties ?? {}) as { info?: { id?: string; parentID?: string } };
  if (info?.id && info.parentID) sessionState(host, info.id).parent = info.parentID;
}

/** OpenCode's own agents, which work beside a conversation, often with a smaller model. */
const ASIDE: ReadonlySet<string> = new Set(['title', 'summary', 'compaction']);

/** Takes the limits of the model that SESSION is about to ask through AGENT. */
export function noteModel(host: Host, sessionID: string, model: Model | undefined, agent = ''): void {
  if (!model?.id || ASIDE.has(agent)) return;
  const given = model as unknown as { id: string; providerID: string; limit?: { context?: number; output?: number } };
  sessionState(host, sessionID).model = {
    providerID: given.providerID,
    modelID: given.id,
    context: given.limit?.context ?? 0,
    output: given.limit?.output ?? 0,
  };
}
