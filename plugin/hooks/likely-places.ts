// Which places likely matter to a turn: when the index is asked, when its answer is sure enough to be shown unasked, and the text of the list.

import type { Reply } from '../channel/sidecar.ts';
import type { Host } from '../host.ts';
import { sessionState } from './sessions.ts';

/** Files that are listed at most, and characters of the whole list: some 250 tokens. */
const FILES = 6;
const CHARACTERS = 1000;

/** Symbols shown beside a file. */
const SYMBOLS = 3;

/** What a turn waits for its list at most. */
const TURN_MILLISECONDS = 30;

/** A list that is not there by then, because the first index takes so long, is not wanted any more. */
const LATE_MILLISECONDS = 120_000;

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

/** Whether TEXT asks for nothing that places could answer: a few words, or assent in one of several languages. */
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

/** The answer for a turn of SESSION that says TEXT, on its way; nothing where none is wanted. */
export function askForTurn(host: Host, session: string, text: string): Promise<Reply<'places'>> | undefined {
  if (isTrivial(text) || sessionState(host, session).parent) return undefined;
  const work = ask(host, session, text.slice(0, TASK));
  work.catch(() => {});
  return work;
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
export function turnMilliseconds(environment: NodeJS.ProcessEnv = process.env): number {
  const given = Number.parseInt(environment.OPL_AUTO_CONTEXT_MS ?? '', 10);
  return given >= 0 ? given : TURN_MILLISECONDS;
}

/** The list of REPLY without what SESSION has seen or its turn TEXT names; its paths count as seen from then on. */
export function unseen(host: Host, session: string, text: string, reply: Reply<'places'>): string | undefined {
  const { seen } = sessionState(host, session);
  const list = contextList(reply, new Set([...seen, ...mentioned(text)]));
  for (const path of list?.paths ?? []) seen.add(path);
  return list?.text;
}

/** Paths that the user named; the model has them already. */
function mentioned(text: string): string[] {
  return text.match(/[\w./@-]+\.\w+/g) ?? [];
}
