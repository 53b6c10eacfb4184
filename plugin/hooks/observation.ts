// What happens in a session is told to the sidecar: requests, answers, tool calls, edits, failures, to-do items.

import type { Host } from '../host.ts';
import type { HookFile } from './compose.ts';
import { cutAtWord } from './cut.ts';
import { editsOf } from './edits.ts';
import { inTime } from './in-time.ts';
import { journalOf } from './journal.ts';
import { type AnyEvent, noteEvent, noteModel, sessionState } from './sessions.ts';

/** Characters of a call's arguments and of its result that are kept. */
const ARGUMENTS = 300;
const RESULT = 160;

/** The last lines of a failed command that are kept: errors stand there. */
const LAST_LINES = 3;

/** What lisp_eval waits at most for a sidecar that starts, as it would itself, and then for observations on their way. */
const START_MILLISECONDS = 5000;
const CATCH_UP_MILLISECONDS = 1000;

interface TextPart {
  type: string;
  text?: string;
  synthetic?: boolean;
}

/** What this plugin adds to a turn, and the words that stand for its command. */
const ADDED = /<(likely-places|handover-request|handover-found)\b[\s\S]*?<\/\1>/g;
export const HANDOVER_WORDS = 'Hand this session over.';

/** TEXT without what this plugin put into it: that is no wish of the user's. */
export function withoutAdded(text: string): string {
  return text.replace(ADDED, '').replace(HANDOVER_WORDS, '').trim();
}

/** What the user wrote in PARTS, without what plugins and OpenCode added. */
export function userText(parts: readonly TextPart[]): string {
  const own = parts.filter((part) => part.type === 'text' && !part.synthetic);
  return withoutAdded(own.map((part) => part.text ?? '').join('\n'));
}

/** The start of TEXT. Its lines stay: the sidecar knows secrets by them, and folds them afterwards. */
const startOf = (text: string, limit: number) => {
  const start = text.trim();
  return start.length > limit ? `${cutAtWord(start, limit - 1)}…` : start;
};

const oneLine = (text: string, limit: number) => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > limit ? `${cutAtWord(line, limit - 1)}…` : line;
};

interface Call {
  tool: string;
  sessionID: string;
  args: unknown;
}

interface Result {
  title?: string;
  output?: unknown;
  metadata?: unknown;
}

/** Records a finished call. */
export function recordCall(host: Host, { tool, sessionID, args }: Call, { output, metadata }: Result): void {
  const journal = journalOf(host);
  const edits = editsOf(host.root, tool, args, metadata);
  for (const { path, state, diff } of edits) {
    journal.record(sessionID, { kind: 'edit', subject: path, state, text: diff });
    sessionState(host, sessionID).seen.add(path);
  }
  if (edits.length > 0) return;
  const text = typeof output === 'string' ? output : '';
  const given = (args ?? {}) as Record<string, unknown>;
  if (tool === 'verify_change') recordVerification(host, sessionID, metadata);
  else if (tool === 'bash') recordCommand(host, sessionID, String(given.command ?? ''), text, metadata);
  else journal.record(sessionID, { kind: 'tool', subject: tool, text: callText(given, text) });
}

interface Verification {
  ran?: { command: string; verdict: string; passed: number | null; failed: number | null }[];
  failing?: { test: string | null; path: string | null; line: number | null; message: string }[];
}

/** A line for the counts, then one for each failing test: its name, TAB, where and why. */
function recordVerification(host: Host, sessionID: string, metadata: unknown): void {
  const { ran = [], failing = [] } = (metadata ?? {}) as Verification;
  const tests = failing.map(({ test, path, line, message }) => {
    const where = path ? `${path}${line ? `:${line}` : ''} ` : '';
    return `${oneLine(test ?? path ?? 'build', ARGUMENTS)}\t${where}${oneLine(message, RESULT)}`;
  });
  for (const [index, { command, verdict, passed, failed }] of ran.entries()) {
    const counts = `${passed ?? '?'} passed, ${failed ?? '?'} failed`;
    // Failures are told of all runs together; they belong to the last, which is the widest.
    const text = [counts, ...(index === ran.length - 1 ? tests : [])].join('\n');
    journalOf(host).record(sessionID, { kind: 'verdict', subject: oneLine(command, RESULT), state: verdict, text });
  }
}

function callText(args: unknown, output: string): string {
  return `${startOf(JSON.stringify(args) ?? '', ARGUMENTS)} -> ${startOf(output, RESULT)}`;
}

function recordCommand(host: Host, sessionID: string, command: string, output: string, metadata: unknown): void {
  const { exit } = (metadata ?? {}) as { exit?: number };
  const journal = journalOf(host);
  const ended = typeof exit === 'number' && exit !== 0 ? ` (exit ${exit})` : '';
  journal.record(sessionID, { kind: 'tool', subject: 'bash', text: `${startOf(command, ARGUMENTS)}${ended}` });
  journal.record(sessionID, {
    kind: 'output',
    subject: startOf(command, RESULT),
    state: String(exit ?? ''),
    text: output,
  });
  if (ended) {
    const last = output.trimEnd().split('\n').slice(-LAST_LINES).join('\n');
    journal.record(sessionID, {
      kind: 'failure',
      subject: startOf(command, RESULT),
      text: `${startOf(last, ARGUMENTS)}${ended}`,
    });
  }
}

/** Failed calls reach no tool hook, only an event. */
function recordFailedCall(host: Host, event: AnyEvent, told: Set<string>): void {
  const { part } = (event.properties ?? {}) as {
    part?: { id: string; type: string; tool?: string; sessionID: string; state?: { status?: string; error?: string } };
  };
  if (part?.type !== 'tool' || part.state?.status !== 'error' || told.has(part.id)) return;
  told.add(part.id);
  journalOf(host).record(part.sessionID, {
    kind: 'failure',
    subject: part.tool ?? 'tool',
    text: startOf(part.state.error ?? 'failed', ARGUMENTS),
  });
}

function recordToDo(host: Host, event: AnyEvent, states: Map<string, string>): void {
  const { sessionID, todos } = (event.properties ?? {}) as {
    sessionID?: string;
    todos?: { content: string; status: string }[];
  };
  if (!sessionID) return;
  for (const { content, status } of todos ?? []) {
    const key = `${sessionID}\0${content}`;
    if (states.get(key) === status) continue;
    states.set(key, status);
    journalOf(host).record(sessionID, { kind: 'todo', subject: startOf(content, ARGUMENTS), state: status, text: '' });
  }
}

export const observation: HookFile = (host) => {
  const told = new Set<string>();
  const toDo = new Map<string, string>();
  return {
    async event({ event }) {
      noteEvent(host, event);
      recordFailedCall(host, event as AnyEvent, told);
      if ((event.type as string) === 'todo.updated') recordToDo(host, event as AnyEvent, toDo);
    },
    async 'chat.params'({ sessionID, model, agent }) {
      noteModel(host, sessionID, model, agent);
    },
    async 'chat.message'({ sessionID }, { parts }) {
      const text = userText(parts as TextPart[]);
      if (text) journalOf(host).record(sessionID, { kind: 'request', text });
    },
    async 'tool.execute.before'({ tool }) {
      // Code in the image may ask for what has just happened.
      if (tool !== 'lisp_eval') return;
      const started = host.sidecar().then((sidecar) => sidecar.describe());
      await inTime(START_MILLISECONDS, started).catch(() => {});
      await journalOf(host).flush(CATCH_UP_MILLISECONDS);
    },
    async 'tool.execute.after'({ tool, sessionID, args }, result) {
      recordCall(host, { tool, sessionID, args }, (result ?? {}) as Result);
    },
    async 'experimental.text.complete'({ sessionID }, { text }) {
      // What the model writes while it compacts is a summary of what is known already.
      if (!sessionState(host, sessionID).compacting) journalOf(host).record(sessionID, { kind: 'answer', text });
    },
    async dispose() {
      await journalOf(host).flush(1000);
    },
  };
};
