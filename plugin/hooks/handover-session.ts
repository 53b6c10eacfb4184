// One host's handovers: when a document is asked for, whose file it is, when it is there, and the compaction that follows.

import path from 'node:path';
import type { PluginInput } from '@opencode-ai/plugin';
import type { Host } from '../host.ts';
import { appendToLog } from '../settings.ts';
import { relativePath } from './edits.ts';
import { handoverFacts } from './handover-facts.ts';
import { findDocument, newDocument, stampDocument, stampLine } from './handover-file.ts';
import { freeFile } from './handover-place.ts';
import { decide, documentTokens, type HandoverSettings, handoverSettings, REMINDERS } from './handover-policy.ts';
import { foundText, reminderText, requestText, withinTokens } from './handover-text.ts';
import { readHead } from './head.ts';
import { journalOf } from './journal.ts';
import { nextPartID } from './part-id.ts';
import { type SessionState, sessionState } from './sessions.ts';
import { contextUsage, type Message, type Usage } from './usage.ts';

/** A document of another session that is older is not spoken of. */
const STALE_MILLISECONDS = 14 * 24 * 3600 * 1000;

interface Stage {
  /** asked: the document is being waited for; written: the compaction is; spent: done, until the context is small again. */
  step: 'asked' | 'written' | 'spent';
  file: string;
  /** The file as the model is told. */
  name: string;
  stampLine: string;
  /** What stood in the file when the document was asked for. */
  before: string | undefined;
  /** The text of the request; given with the command itself when the user asked. */
  request: string;
  said: number;
  withTurn?: boolean;
  document: string;
}

export class Handover {
  readonly settings: HandoverSettings = handoverSettings();
  /** False when the user has turned OpenCode's own compaction off: then nothing is compacted here either. */
  mayCompact = !/^(1|true)$/i.test(process.env.OPENCODE_DISABLE_AUTOCOMPACT ?? '');
  /** About the tokens of each tool's definition. */
  readonly tools = new Map<string, { size: number; tokens: number }>();
  readonly #host: Host;
  readonly #input: PluginInput;
  readonly #stages = new Map<string, Stage>();
  readonly #greeted = new Set<string>();
  /** By session: the history of a request whose model is not known yet. */
  readonly #unlogged = new Map<string, Message[]>();
  /** Sessions whose provider counts tokens. */
  readonly #counted = new Set<string>();

  constructor(host: Host, input: PluginInput) {
    this.#host = host;
    this.#input = input;
  }

  stage(session: string): Stage | undefined {
    return this.#stages.get(session);
  }

  log(session: string, text: string): void {
    const line = `handover ${session}: ${text}`;
    this.#host.log(line);
    if (this.settings.log) appendToLog(path.resolve(this.#host.root, this.settings.log), line);
  }

  #fixedTokens(state: SessionState): number {
    return [...this.tools.values()].reduce((sum, { tokens }) => sum + tokens, state.systemTokens);
  }

  #logUsage(state: SessionState, { tokens, how }: Usage): void {
    const context = state.model?.context ?? 0;
    const share = context ? ` (${((100 * tokens) / context).toFixed(1)} %)` : '';
    this.log(state.id, `usage ${tokens} of ${context} tokens${share} [${how}]`);
  }

  /** The limits of a session's model, and its prompt, are known only once its first request is nearly made. */
  logFirst(session: string): void {
    const messages = this.#unlogged.get(session);
    const state = sessionState(this.#host, session);
    if (!messages || !state.model) return;
    this.#unlogged.delete(session);
    this.#logUsage(state, contextUsage(messages, this.#fixedTokens(state)));
  }

  /** Looks at the history of the next request, and adds to its end what is to be said. */
  async step(session: string, messages: Message[]): Promise<void> {
    const state = sessionState(this.#host, session);
    if (state.compacting || state.parent) return;
    const asked = messages.findLast(({ info }) => info.role === 'user')?.info.model?.modelID;
    // The user may have chosen another model, with other limits.
    if (asked && state.model && asked !== state.model.modelID) state.model = undefined;
    if (!state.model) {
      this.#unlogged.set(session, messages);
      return;
    }
    const usage = contextUsage(messages, this.#fixedTokens(state));
    this.#logUsage(state, usage);
    if (usage.how === 'measured') this.#counted.add(session);
    // Right after a compaction nothing is counted yet, and an estimate would arm the next handover too soon: where a provider counts, its word is waited for.
    const known = usage.how === 'measured' || !this.#counted.has(session);
    const stage = this.#stages.get(session);
    if (!stage) await this.#consider(state, usage, messages);
    else if (stage.step === 'asked') this.#remind(state, stage, messages);
    else if (stage.step === 'spent' && known && decide(usage.tokens, state.model, this.settings.percent) === 'wait') {
      this.#stages.delete(session);
      this.log(session, 'ready for another');
    }
  }

  async #consider(state: SessionState, usage: Usage, messages: Message[]): Promise<void> {
    const decision = decide(usage.tokens, state.model!, this.settings.percent);
    if (decision === 'wait') return;
    if (!this.mayCompact) {
      this.#spend(state.id, 'the threshold is reached; compaction is turned off, so nothing is done');
      return;
    }
    if (decision === 'compact') {
      this.#spend(state.id, 'no document fits any more; a regular compaction');
      this.#compact(state);
      return;
    }
    const percent = Math.round((100 * usage.tokens) / state.model!.context);
    const stage = await this.ask(state, `The context is ${percent} % full.`, '');
    say(messages, stage.request);
    stage.said = 1;
  }

  #remind(state: SessionState, stage: Stage, messages: Message[]): void {
    if (this.accept(state, stage)) return;
    if (stage.withTurn) {
      // The command's own turn carries the request.
      stage.withTurn = false;
      return;
    }
    if (stage.said > REMINDERS) {
      this.#spend(state.id, `no document after ${REMINDERS} reminders`);
      if (this.mayCompact) this.#compact(state);
      return;
    }
    say(messages, stage.said === 0 ? stage.request : reminderText(stage.name, stage.stampLine, stage.said, REMINDERS));
    this.log(state.id, stage.said === 0 ? 'asked' : `reminder ${stage.said} of ${REMINDERS}`);
    stage.said += 1;
  }

  /** Prepares the file and the request of a document. */
  async ask(state: SessionState, reason: string, note: string): Promise<Stage> {
    const head = readHead(this.#host.root);
    const { file, archived } = await this.#free(state.id);
    const line = stampLine({ session: state.id, head }, new Date());
    const tokens = documentTokens(state.model ?? { context: 0, output: 0 });
    const facts = await handoverFacts(this.#host, state.id).catch((error) => {
      this.log(state.id, `no facts: ${error.message}`);
      return '';
    });
    const name = relativePath(this.#host.root, file) ?? file;
    const stage: Stage = {
      step: 'asked',
      file,
      name,
      stampLine: line,
      before: findDocument(file)?.text,
      request: requestText({ file: name, stampLine: line, tokens, reason, note, facts, archived }),
      said: 0,
      document: '',
    };
    this.#stages.set(state.id, stage);
    this.log(state.id, `document asked for at ${name}, at most ${tokens} tokens`);
    journalOf(this.#host).record(state.id, { kind: 'handover', subject: name, state: 'asked', text: reason });
    return stage;
  }

  #free(session: string): Promise<{ file: string; archived: string | undefined }> {
    const inUse = (file: string) =>
      [...this.#stages].some(([other, stage]) => other !== session && stage.file === file && stage.step !== 'spent');
    return freeFile(this.#host, this.settings.file, session, inUse, (text) => this.log(session, text));
  }

  /** Takes the document when it is there, and starts the compaction. */
  accept(state: SessionState, stage: Stage): boolean {
    const found = newDocument(stage.file, stage.before);
    if (!found) return false;
    stage.step = 'written';
    // Models forget the line; without it nobody can tell whose document it is, nor its age and commit.
    if (!found.stamp) stampDocument(stage.file, stage.stampLine, found.text, (text) => this.log(state.id, text));
    stage.document = withinTokens(found.text, documentTokens(state.model ?? { context: 0, output: 0 }));
    this.log(state.id, `document written, ${found.text.length} characters`);
    journalOf(this.#host).record(state.id, {
      kind: 'handover',
      subject: stage.name,
      state: 'written',
      text: '',
    });
    if (this.mayCompact) this.#compact(state);
    else this.#spend(state.id, 'compaction is turned off; the document stays for the next session');
    return true;
  }

  #spend(session: string, why: string): void {
    const nothing = { file: '', name: '', stampLine: '', before: undefined, request: '', said: 0, document: '' };
    this.#stages.set(session, { ...(this.#stages.get(session) ?? nothing), step: 'spent' });
    this.log(session, why);
  }

  /** Asks OpenCode to compact in place and to go on. Not awaited: it waits for the session, which waits for this hook. */
  #compact({ id, model }: SessionState): void {
    if (!model) return;
    const { providerID, modelID } = model;
    const body = { providerID, modelID, auto: true } as { providerID: string; modelID: string };
    Promise.resolve(this.#input.client.session.summarize({ path: { id }, body }))
      .then((answer) =>
        this.log(id, answer?.error ? `compaction refused: ${JSON.stringify(answer.error)}` : 'compaction asked for'),
      )
      .catch((error) => this.log(id, `compaction failed: ${error.message}`));
  }

  /** The session was compacted, by whomever: nothing more until its context has grown again. */
  compacted(session: string): void {
    const stage = this.#stages.get(session);
    if (stage) this.#spend(session, 'compacted');
  }

  /** What a new session is told of a document that an earlier one left; nothing the second time. */
  greeting(session: string): string | undefined {
    if (this.#greeted.has(session)) return undefined;
    this.#greeted.add(session);
    const found = findDocument(path.resolve(this.#host.root, this.settings.file));
    if (!found || found.stamp?.session === session || Date.now() - found.written > STALE_MILLISECONDS) return undefined;
    return foundText(this.settings.file, found, readHead(this.#host.root));
  }
}

/** Adds TEXT to the end of MESSAGES, for this request alone. */
function say(messages: Message[], text: string): void {
  const last = messages.findLast((message) => message.info.role === 'user');
  if (!last) return;
  const id = `${last.info.id}h`;
  const part = {
    id: nextPartID(undefined),
    sessionID: last.info.sessionID,
    messageID: id,
    type: 'text',
    synthetic: true,
    text,
  };
  messages.push({ info: { ...last.info, id }, parts: [part] });
}
