// Each new turn of the user gets a short list of places that likely matter, at the tail of that turn and stored with it, so that what the model
// has read before stays the same to the byte and its provider's prompt cache holds. OPL_AUTO_CONTEXT=0 turns it off.

import type { Part } from '@opencode-ai/sdk';
import type { Reply } from '../channel/sidecar.ts';
import type { Host } from '../host.ts';
import type { HookFile } from './compose.ts';
import { inTime } from './in-time.ts';
import { userText } from './observation.ts';
import { nextPartID } from './part-id.ts';
import { sessionState } from './sessions.ts';

/** Files that are listed at most, and characters of the whole list: some 250 tokens. */
const FILES = 6;
const CHARACTERS = 1000;

/** Symbols shown beside a file. */
const SYMBOLS = 3;

/** A turn does not wait longer than so for its list; the sidecar answers in a few milliseconds once it has an index. */
const MILLISECONDS = 300;

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
  /^(?:(?:yes|no|ok(?:ay)?|sure|please|thanks?|thank you|continue|go (?:on|ahead)|proceed|next|do it|keep going|carry on|good|great|fine|perfect|looks good|lgtm|stop|wait|hi|hello|y|n|yep|nope|right|done|retry|again|try again)[\s,.!]*)+$/i;

export function isTrivial(text: string): boolean {
  const words = text.split(/[^\p{L}\p{N}_]+/u).filter(Boolean);
  return words.length < WORDS || TRIVIAL.test(text.trim());
}

/** The list for REPLY without the paths of SEEN, or nothing when the index is not sure enough to speak unasked. */
export function contextList(
  reply: Reply<'context'>,
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

async function ask(host: Host, task: string): Promise<Reply<'context'>> {
  const sidecar = await host.sidecar();
  return sidecar.call(
    'context',
    { task, limit: FILES * 2, offset: 0, explain: false },
    { signal: AbortSignal.timeout(MILLISECONDS) },
  );
}

/** False where the user has turned the lists off. */
export function listsWanted(environment: NodeJS.ProcessEnv = process.env): boolean {
  return !/^(0|false|off|no)$/i.test(environment.OPL_AUTO_CONTEXT ?? '');
}

/** The list for a turn of SESSION that says TEXT, or nothing. Its paths count as seen from then on. Rejects when there is no list in time. */
export async function likelyPlaces(host: Host, sessionID: string, text: string): Promise<string | undefined> {
  const state = sessionState(host, sessionID);
  if (isTrivial(text) || state.parent) return undefined;
  const reply = await inTime(MILLISECONDS, ask(host, text.slice(0, TASK)));
  const list = contextList(reply, new Set([...state.seen, ...mentioned(text)]));
  for (const path of list?.paths ?? []) state.seen.add(path);
  return list?.text;
}

export const autoContext: HookFile = (host) => {
  if (!listsWanted()) return {};
  return {
    async 'chat.message'({ sessionID }, { message, parts }) {
      const text = await likelyPlaces(host, sessionID, userText(parts as never));
      if (!text) return;
      const id = nextPartID(parts.at(-1)?.id);
      parts.push({ id, sessionID, messageID: message.id, type: 'text', synthetic: true, text } as Part);
    },
  };
};

/** Paths that the user named; the model has them already. */
function mentioned(text: string): string[] {
  return text.match(/[\w./@-]+\.\w+/g) ?? [];
}
