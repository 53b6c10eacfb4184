// The hooks for OpenCode 2, which has other names and shapes for them. What it does not have (what the model has written, counts of
// tokens) is left out.

import type { Host } from '../host.ts';
import { compactionFacts } from './compaction.ts';
import { refresh, refreshAfter } from './freshness.ts';
import { inTime } from './in-time.ts';
import { journalOf } from './journal.ts';
import { askForTurn, listsWanted, turnMilliseconds, unseen } from './likely-places.ts';
import { recordCall, withoutAdded } from './observation.ts';
import { type CommandContext, SecondHandover } from './second-handover.ts';
import { NOTE } from './system-note.ts';

type Event = Record<string, unknown>;

/** What is used of the context that OpenCode 2 gives to setup(). */
export interface SecondContext extends CommandContext {
  session?: CommandContext['session'] & { hook?: (name: string, callback: (event: Event) => unknown) => unknown };
  tool?: { hook?: (name: string, callback: (event: Event) => unknown) => unknown };
}

interface Prompt {
  text?: string;
  parts?: { type?: string; text?: string }[];
}

function promptText(prompt: Prompt): string {
  return prompt.text ?? (prompt.parts ?? []).map((part) => part.text ?? '').join('\n');
}

/** Adds TEXT to the end of PROMPT, whichever of its shapes it has. */
function extend(prompt: Prompt, text: string): void {
  if (typeof prompt.text === 'string') prompt.text = `${prompt.text}\n\n${text}`;
  else prompt.parts?.push({ type: 'text', text });
}

/** Adds TEXT to the system prompt, once. */
function addSystem(event: Event, text: string): void {
  const system = event.system as ({ text?: string } | string)[] | undefined;
  if (!Array.isArray(system)) return;
  if (system.some((part) => (typeof part === 'string' ? part : part.text) === text)) return;
  system.push(typeof system[0] === 'string' ? text : ({ type: 'text', text } as { text: string }));
}

async function prompted(host: Host, event: Event): Promise<void> {
  const session = String(event.sessionID);
  const prompt = (event.prompt ?? {}) as Prompt;
  const text = withoutAdded(promptText(prompt));
  if (!text) return;
  journalOf(host).record(session, { kind: 'request', text });
  const work = listsWanted() ? askForTurn(host, session, text) : undefined;
  // No later hook may add to a turn here: a list that is not there in time is left out.
  const reply = work && (await inTime(turnMilliseconds(), work).catch(() => undefined));
  if (!reply) return;
  const list = unseen(host, session, text, reply);
  if (list) extend(prompt, list);
  refresh(host, []);
}

function called(host: Host, event: Event): void {
  const { tool, sessionID, input, status, result, error } = event as {
    tool: string;
    sessionID: string;
    input: unknown;
    status: string;
    result?: { content?: unknown; output?: unknown; metadata?: unknown };
    error?: { message?: string };
  };
  if (status === 'error') {
    journalOf(host).record(sessionID, { kind: 'failure', subject: tool, text: error?.message ?? 'failed' });
    return;
  }
  const content = result?.content ?? result?.output;
  const output = typeof content === 'string' ? content : JSON.stringify(content ?? '');
  // Its file tools name the path so or so.
  const given = (input ?? {}) as Record<string, unknown>;
  const args = { ...given, filePath: given.filePath ?? given.path };
  recordCall(host, { tool, sessionID, args }, { output, metadata: result?.metadata });
  refreshAfter(host, tool, args, result?.metadata);
}

/** Puts the hooks in place. Each is harmless when it fails: what it throws is logged. */
export function attachSecond(host: Host, context: SecondContext): void {
  const guarded = (name: string, work: (event: Event) => unknown) => async (event: Event) => {
    try {
      await work(event ?? {});
    } catch (error) {
      host.log(`hook ${name}: ${error instanceof Error ? error.message : error}`);
    }
  };
  const session = (name: string, work: (event: Event) => unknown) => context.session?.hook?.(name, guarded(name, work));
  session('prompt', (event) => prompted(host, event));
  session('context', (event) => {
    if (event.kind === undefined || event.kind === 'primary') addSystem(event, NOTE);
  });
  const handover = new SecondHandover(host, context);
  guarded('command.transform', () => handover.offer())({});
  session('compaction', async (event) => {
    const summary = handover.summary(String(event.sessionID));
    if (summary && event.result === undefined) {
      event.result = { summary };
      return;
    }
    const facts = await compactionFacts(host, String(event.sessionID));
    if (facts) addSystem(event, facts);
  });
  context.tool?.hook?.(
    'execute.after',
    guarded('execute.after', (event) => {
      called(host, event);
      handover.called(String(event.sessionID));
    }),
  );
}
