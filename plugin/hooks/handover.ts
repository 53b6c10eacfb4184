// Handover: near the end of the context, or at /handover, the agent writes a document, the session is compacted in place and goes on from it.

import type { HookFile } from './compose.ts';
import { Handover } from './handover-session.ts';
import { continuationText } from './handover-text.ts';
import { HANDOVER_WORDS, userText } from './observation.ts';
import { nextPartID } from './part-id.ts';
import { type AnyEvent, sessionState } from './sessions.ts';
import { definitionTokens, estimateTokens, type Message } from './usage.ts';

/** So long a call that wrote the document is held, for OpenCode to take the wish to compact before its next step. */
const HOLD_MILLISECONDS = 200;

export const handover: HookFile = (host, input) => {
  const work = new Handover(host, input);
  if (work.settings.disabled) return {};
  return {
    async config(config) {
      const open = config as { compaction?: { auto?: boolean }; command?: Record<string, object> };
      if (open.compaction?.auto === false) work.mayCompact = false;
      open.command = {
        handover: {
          description: 'Write a handover document, compact the session and go on from it',
          template: `${HANDOVER_WORDS} $ARGUMENTS`,
        },
        ...open.command,
      };
    },
    async 'chat.message'({ sessionID }, { message, parts }) {
      if (!userText(parts as never) || sessionState(host, sessionID).parent) return;
      const text = work.greeting(sessionID);
      if (!text) return;
      const part = {
        id: nextPartID(parts.at(-1)?.id),
        sessionID,
        messageID: message.id,
        type: 'text',
        synthetic: true,
        text,
      };
      parts.push(part as never);
    },
    async 'command.execute.before'({ command, sessionID, arguments: note }, { parts }) {
      if (command !== 'handover') return;
      const stage = await work.ask(sessionState(host, sessionID), 'The user asks for a handover.', note.trim());
      stage.said = 1;
      stage.withTurn = true;
      parts.push({ type: 'text', text: stage.request } as never);
    },
    async 'experimental.chat.messages.transform'(_, { messages }) {
      const session = messages[0]?.info?.sessionID;
      if (session) await work.step(session, messages as unknown as Message[]);
    },
    async 'chat.params'({ sessionID }) {
      work.logFirst(sessionID);
    },
    async 'tool.definition'({ toolID }, definition) {
      // What a provider counts that gives no counts must be counted here; a definition is looked at when it changes.
      const size = definition.description.length;
      if (work.tools.get(toolID)?.size === size) return;
      work.tools.set(toolID, { size, tokens: definitionTokens(definition) });
    },
    async 'experimental.chat.system.transform'({ sessionID }, { system }) {
      const text = system.join('\n');
      const state = sessionState(host, sessionID ?? '');
      // Titles and summaries have short prompts of their own.
      if (text.length <= state.systemSize) return;
      state.systemSize = text.length;
      state.systemTokens = estimateTokens(text);
    },
    async 'tool.execute.after'({ sessionID }) {
      const stage = work.stage(sessionID);
      if (stage?.step !== 'asked' || !work.accept(sessionState(host, sessionID), stage)) return;
      await new Promise((resolve) => setTimeout(resolve, HOLD_MILLISECONDS));
    },
    async 'experimental.session.compacting'({ sessionID }, output) {
      const stage = work.stage(sessionID);
      if (stage?.step === 'written')
        output.context.push(`The handover document, which the summary must carry whole:\n${stage.document}`);
    },
    async 'experimental.text.complete'({ sessionID }, output) {
      const stage = work.stage(sessionID);
      if (stage?.step !== 'written' || !sessionState(host, sessionID).compacting) return;
      output.text = continuationText(stage.name, stage.document);
      work.log(sessionID, 'the session goes on from the document');
    },
    async event({ event }) {
      if ((event as AnyEvent).type !== 'session.compacted') return;
      const { sessionID } = ((event as AnyEvent).properties ?? {}) as { sessionID?: string };
      if (sessionID) work.compacted(sessionID);
    },
  };
};
