// /handover in OpenCode 2: the command asks for the document by a prompt of its own; once it is written it is the summary of the next compaction, which
// a plugin cannot start there unless the host offers it. Written from its published sources; not met in the flesh.

import type { PluginInput } from '@opencode-ai/plugin';
import type { Host } from '../host.ts';
import { Handover } from './handover-session.ts';
import { continuationText } from './handover-text.ts';
import { sessionState } from './sessions.ts';

interface Invocation {
  sessionID?: string;
  messageID?: string;
  prompt?: { text?: string };
  delivery?: unknown;
}

interface Command {
  name: string;
  description: string;
  execute(invocation: Invocation): Promise<void>;
}

/** What is used of the context that OpenCode 2 gives to setup(). */
export interface CommandContext {
  command?: { transform?: (edit: (editor: { add(command: Command): void }) => void) => unknown };
  session?: {
    prompt?: (input: object) => Promise<unknown>;
    compact?: (input: { sessionID: string }) => Promise<unknown>;
  };
}

export class SecondHandover {
  readonly #host: Host;
  readonly #context: CommandContext;
  readonly #work: Handover;
  /** By session: the document that its next compaction is to be. */
  readonly #documents = new Map<string, { name: string; text: string }>();

  constructor(host: Host, context: CommandContext) {
    this.#host = host;
    this.#context = context;
    this.#work = new Handover(host, {} as PluginInput);
    this.#work.mayCompact = false;
  }

  /** Offers the command, unless handovers are turned off or the host has no commands. */
  offer(): void {
    const { command, session } = this.#context;
    if (this.#work.settings.disabled || !command?.transform || !session?.prompt) return;
    command.transform((editor) =>
      editor.add({
        name: 'handover',
        description: 'Write a handover document; the next compaction goes on from it',
        execute: (invocation) => this.#ask(invocation),
      }),
    );
  }

  async #ask({ sessionID, messageID, prompt, delivery }: Invocation): Promise<void> {
    if (!sessionID) return;
    const note = (prompt?.text ?? '').trim();
    const { request } = await this.#work.ask(
      sessionState(this.#host, sessionID),
      'The user asks for a handover.',
      note,
    );
    // The text stands flat in newer versions of the host and under prompt in older ones.
    await this.#context.session?.prompt?.({
      sessionID,
      id: messageID,
      text: request,
      prompt: { text: request },
      delivery,
    });
  }

  /** After each call of a tool: is the document there? */
  called(session: string): void {
    const stage = this.#work.stage(session);
    if (stage?.step !== 'asked' || !this.#work.accept(sessionState(this.#host, session), stage)) return;
    this.#documents.set(session, { name: stage.name, text: stage.document });
    this.#context.session
      ?.compact?.({ sessionID: session })
      .catch((error) => this.#work.log(session, `compaction failed: ${error.message}`));
  }

  /** The summary that SESSION's compaction is to be, once, when a document was written for it. */
  summary(session: string): string | undefined {
    const document = this.#documents.get(session);
    this.#documents.delete(session);
    this.#work.compacted(session);
    return document && continuationText(document.name, document.text);
  }
}
