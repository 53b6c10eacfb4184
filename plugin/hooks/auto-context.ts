// Each new turn of the user gets a short list of places that likely matter, at the tail of that turn and stored with it, so that what the model
// has read before stays the same to the byte and its provider's prompt cache holds. A turn hardly waits: a list that comes later, as in the first turn
// of a session, whose sidecar is still starting, stands after the first result of that turn that is about the repository. OPL_AUTO_CONTEXT=0 turns it off.

import type { Part } from '@opencode-ai/sdk';
import type { Reply } from '../channel/sidecar.ts';
import type { Host } from '../host.ts';
import type { HookFile } from './compose.ts';
import { refresh } from './freshness.ts';
import { inTime } from './in-time.ts';
import { userText } from './observation.ts';
import { nextPartID } from './part-id.ts';
import { sessionState } from './sessions.ts';

/** Files that are listed at most, and characters of the whole list: some 250 tokens. */
const FILES = 6;
const CHARACTERS = 1000;

/** Symbols shown beside a file. */
const SYMBOLS = 3;

/** What a turn waits for its list at most: the sidecar answers in a third of it from an index of 5,000 files. */
const TURN_MILLISECONDS = 30;

/** A list that is not there by then, because the first index takes so long, is not wanted any more. */
const LATE_MILLISECONDS = 120_000;

/** Tools after whose result a late list may stand: those by which a model looks around. */
const LOOKING = new Set(['grep', 'glob', 'list', 'read', 'bash']);

/** Turns with fewer words ask for nothing that could be looked for. */
const WORDS = 3;

/** Characters of a turn that are asked about: what follows is pasted. */
const TASK = 4000;

/** A list whose best file is not this much above its last one is a guess among equals. */
const SPREAD = 1.3;

/** Files with less than this share of the best one's score are not worth a line. */
const SHARE = 0.3;

/** Turns that ask for nothing new. */
const TRIVIAL =
  /^(?:(?:yes|no|ok(?:ay)?|sure|please|thanks?|thank you|continue|go (?:on|ahead)|proceed|next|do it|keep going|carry on|good|great|fine|perfect|looks good|lgtm|stop|wait|hi|hello|y|n|yep|nope|right|done|retry|again|try again|ja|nein|bitte|danke|weiter|mach weiter|mach|gut|genau|oui|non|merci|vas-y|d'accord|s[ií]|gracias|vale|sigue|hola)[\s,.!]*)+$/i;

export function isTrivial(text: string): boolean {
  const words = text.split(/[^\p{L}\p{N}_]+/u).filter(Boolean);
  return words.length < WORDS || TRIVIAL.test(text.trim());
}

/** The list for REPLY without the paths of SEEN, or nothing when the index is not sure enough to speak unasked. */
export function contextList(
  reply: Reply<'places'>,
  seen: ReadonlySet<string>,
): { text: string; paths: string[] } | undefined {
  const files = reply['ranked-file'];
  const best = files[0];
  if (!best || reply.answer[0]?.complete === false || best.role !== 'match') return undefined;
  const last = files.at(-1)!;
  if (files.length > 2 && best.score < SPREAD * last.score) return undefined;
  const lines: string[] = [];
  const paths: string[] = [];
  let length = 0;
  const telling = files.filter(
    ({ path, score, role }) => score >= SHARE * best.score && role !== 'lexical' && !seen.has(path),
  );
  for (const { path, role } of telling.slice(0, FILES)) {
    const symbols = reply.symbol.filter((symbol) => symbol.path === path).slice(0, SYMBOLS);
    const line = `- ${path}${role === 'match' ? '' : ` (${role})`}${symbols.length ? `: ${symbols.map((one) => `${one.name}:${one.line}`).join(', ')}` : ''}`;
    if (length + line.length > CHARACTERS) break;
    length += line.length;
    lines.push(line);
    paths.push(path);
  }
  if (lines.length === 0) return undefined;
  return {
    text: `<likely-places note="from the repository's index; may be wrong">\n${lines.join('\n')}\n</likely-places>`,
    paths,
  };
}

async function ask(host: Host, session: string, task: string): Promise<Reply<'places'>> {
  const sidecar = await host.sidecar();
  return sidecar.call(
    'places',
    { session, task, limit: FILES * 2 },
    { signal: AbortSignal.timeout(LATE_MILLISECONDS) },
  );
}

/** False where the user has turned the lists off. */
export function listsWanted(environment: NodeJS.ProcessEnv = process.env): boolean {
  return !/^(0|false|off|no)$/i.test(environment.OPL_AUTO_CONTEXT ?? '');
}

/** What a turn waits: OPL_AUTO_CONTEXT_MS, for slow machines, else a few milliseconds. */
function turnMilliseconds(environment: NodeJS.ProcessEnv = process.env): number {
  const given = Number.parseInt(environment.OPL_AUTO_CONTEXT_MS ?? '', 10);
  return given >= 0 ? given : TURN_MILLISECONDS;
}

/** Lists that came after their turn had gone on, by session. One at most: the next turn asks anew. */
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

/** The list of REPLY without what SESSION has seen or its turn TEXT names; its paths count as seen from then on. */
function unseen(host: Host, session: string, text: string, reply: Reply<'places'>): string | undefined {
  const { seen } = sessionState(host, session);
  const list = contextList(reply, new Set([...seen, ...mentioned(text)]));
  for (const path of list?.paths ?? []) seen.add(path);
  return list?.text;
}

/** The list for a turn of SESSION that says TEXT, or nothing: none is wanted, or it comes later and is kept in LATE. */
export async function likelyPlaces(
  host: Host,
  session: string,
  text: string,
  late: LateLists,
): Promise<string | undefined> {
  late.drop(session);
  if (isTrivial(text) || sessionState(host, session).parent) return undefined;
  const work = ask(host, session, text.slice(0, TASK));
  try {
    const reply = await inTime(turnMilliseconds(), work);
    // What was edited elsewhere since the last look shows in the next answer; this one did not wait for it.
    refresh(host, []);
    return unseen(host, session, text, reply);
  } catch {
    late.keep(session, text, work);
    return undefined;
  }
}

export const autoContext: HookFile = (host) => {
  if (!listsWanted()) return {};
  const late = new LateLists();
  return {
    async 'chat.message'({ sessionID }, { message, parts }) {
      const text = await likelyPlaces(host, sessionID, userText(parts as never), late);
      if (!text) return;
      const id = nextPartID(parts.at(-1)?.id);
      parts.push({ id, sessionID, messageID: message.id, type: 'text', synthetic: true, text } as Part);
    },
    async 'tool.execute.after'({ tool, sessionID }, result) {
      if (!LOOKING.has(tool) || typeof result?.output !== 'string') return;
      const text = late.take(host, sessionID);
      if (text) result.output = `${result.output.trimEnd()}\n\n${text}`;
    },
    async 'experimental.session.compacting'({ sessionID }) {
      late.drop(sessionID);
    },
  };
};

/** Paths that the user named; the model has them already. */
function mentioned(text: string): string[] {
  return text.match(/[\w./@-]+\.\w+/g) ?? [];
}
