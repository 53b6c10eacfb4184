// What is said to the model about a handover.

import type { Reply } from '../channel/sidecar.ts';
import { ageText, type Found } from './handover-file.ts';
import { shortHead } from './head.ts';

export interface Asked {
  /** The document's path as the model shall write it. */
  file: string;
  stampLine: string;
  tokens: number;
  /** Why: the user's command, or how full the context is. */
  reason: string;
  /** What the user added to the command. */
  note: string;
  facts: string;
  /** Where the document that stood there before went. */
  archived: string | undefined;
}

/** The facts of REPLY as a list by section; an empty string when there are none. */
export function renderFacts(reply: Reply<'handover-facts'>): string {
  const lines: string[] = [];
  let section = '';
  for (const fact of reply.fact) {
    if (fact.section !== section) lines.push(`${fact.section}:`);
    section = fact.section;
    lines.push(`- ${fact.text}`);
  }
  return lines.join('\n');
}

/** The request for the document. */
export function requestText({ file, stampLine, tokens, reason, note, facts, archived }: Asked): string {
  return [
    `<handover-request>`,
    `${reason} Write the handover document to ${file} now, with the write tool, in one call, at most ${tokens} tokens.`,
    `Its first line is exactly: ${stampLine}`,
    'Then: Goal; State of the work (files and symbols changed, tests failing and fixed); Decisions and their reasons; Open work; Next steps, the first one first; How to check.',
    'Whoever continues has nothing but this document and the repository. The facts below were observed and are exact; add intent and next steps from the conversation.',
    ...(note ? [`The user adds: ${note}`] : []),
    ...(archived ? [`An older document was moved to ${archived}.`] : []),
    ...(facts ? ['', facts] : []),
    'After it is written the conversation is compacted and goes on from the document.',
    `</handover-request>`,
  ].join('\n');
}

/** Reminder NUMBER of OF. */
export function reminderText(file: string, stampLine: string, number: number, of: number): string {
  return `<handover-request>Reminder ${number} of ${of}: write the handover document to ${file} before anything else; its first line is exactly: ${stampLine}</handover-request>`;
}

/** Characters of a token, at most: even long words come to no more. */
const CHARACTERS_OF_TOKEN = 6;

/** DOCUMENT, cut where it is longer than TOKENS can be: one that fills the context would leave no room for the work. */
export function withinTokens(document: string, tokens: number): string {
  const most = tokens * CHARACTERS_OF_TOKEN;
  return document.length <= most ? document : `${document.slice(0, most)}\n\n(The rest is in the file.)`;
}

/** What stands in place of the conversation after a handover. */
export function continuationText(file: string, document: string): string {
  return `The conversation so far was handed over. This is the handover document (${file}); go on from it.\n\n${document.trim()}`;
}

/** Said at the start of a session that finds a document of another. */
export function foundText(file: string, { written, stamp }: Found, head: string): string {
  const where = stamp
    ? ` at commit ${shortHead(stamp.head)}${head.startsWith(stamp.head) && stamp.head ? ', which is still checked out' : `; now ${shortHead(head)} is checked out`}`
    : '';
  return `<handover-found>${file} holds a handover document of an earlier session, written ${ageText(written)} ago${where}. Read it when this task continues that work.</handover-found>`;
}
