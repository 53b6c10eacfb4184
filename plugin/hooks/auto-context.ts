// Each new turn of the user gets a short list of places that likely matter, at the tail of that turn and stored with it, so that what the model
// has read before stays the same to the byte and its provider's prompt cache holds. The list is asked for when the turn begins and taken when OpenCode
// has read the session again for its request, 25 ms later, so a turn hardly waits. A list that comes still later, as in the first turn of a session,
// whose sidecar is starting, stands after the first result of that turn that is about the repository. OPL_AUTO_CONTEXT=0 turns it off.

import type { PluginInput } from '@opencode-ai/plugin';
import type { Reply } from '../channel/sidecar.ts';
import type { Host } from '../host.ts';
import type { HookFile } from './compose.ts';
import { refresh } from './freshness.ts';
import { inTime } from './in-time.ts';
import { LateLists, LOOKING } from './late-lists.ts';
import { askForTurn, listsWanted, turnMilliseconds, unseen } from './likely-places.ts';
import { userText } from './observation.ts';
import { nextPartID } from './part-id.ts';
import { sessionState } from './sessions.ts';

/** Lists that are held because OpenCode has not stored them, at most; the oldest goes first. */
const HELD = 500;

interface Turn {
  messageID: string;
  partID: string;
  text: string;
  work: Promise<Reply<'places'>>;
}

interface ListPart {
  id: string;
  sessionID: string;
  messageID: string;
  type: 'text';
  synthetic: true;
  text: string;
}

interface Message {
  info: { id?: string; sessionID?: string };
  parts: { id?: string }[];
}

/** Puts PART where OpenCode, which orders a message's parts by their ids, will have it once it is stored. */
function insert(parts: { id?: string }[], part: ListPart): void {
  const after = parts.findIndex(({ id }) => id !== undefined && id > part.id);
  parts.splice(after < 0 ? parts.length : after, 0, part);
}

/** Has OpenCode keep PART with its message. Its client for plugins has no name for that request, so it is made by hand. */
async function store(input: PluginInput, { id: partID, sessionID, messageID, ...rest }: ListPart): Promise<unknown> {
  const { _client: client } = input.client as unknown as {
    _client?: { patch?(request: object): Promise<{ error?: unknown }> };
  };
  const answer = await client?.patch?.({
    url: '/session/{sessionID}/message/{messageID}/part/{partID}',
    path: { sessionID, messageID, partID },
    body: { id: partID, sessionID, messageID, ...rest },
    headers: { 'Content-Type': 'application/json' },
  });
  return answer ? answer.error : 'no such request';
}

class TurnLists {
  readonly #host: Host;
  readonly #input: PluginInput;
  readonly #late: LateLists;
  readonly #begun = new Map<string, Turn>();
  /** By message: lists that the model has read and that OpenCode's store may not hold. */
  readonly #held = new Map<string, ListPart>();

  constructor(host: Host, input: PluginInput, late: LateLists) {
    this.#host = host;
    this.#input = input;
    this.#late = late;
  }

  /** A turn of SESSION begins. */
  begin(session: string, messageID: string, parts: { id?: string }[]): void {
    this.#late.drop(session);
    this.#begun.delete(session);
    const text = userText(parts as never);
    const work = askForTurn(this.#host, session, text);
    if (work) this.#begun.set(session, { messageID, partID: nextPartID(parts.at(-1)?.id), text, work });
  }

  /** MESSAGES are about to be sent: the list of a turn that has just begun is waited for, and those that are not stored are put in. */
  async complete(messages: Message[]): Promise<void> {
    const session = messages[0]?.info?.sessionID;
    if (!session) return;
    const turn = this.#begun.get(session);
    if (
      turn &&
      !sessionState(this.#host, session).compacting &&
      messages.some(({ info }) => info.id === turn.messageID)
    ) {
      this.#begun.delete(session);
      await this.#take(session, turn);
    }
    for (const { info, parts } of messages) {
      const part = this.#held.get(info.id ?? '');
      if (!part) continue;
      if (parts.some(({ id }) => id === part.id)) this.#held.delete(part.messageID);
      else insert(parts, part);
    }
  }

  async #take(session: string, { messageID, partID, text, work }: Turn): Promise<void> {
    const start = performance.now();
    const waited = () => `${(performance.now() - start).toFixed(1)} ms waited`;
    let list: string | undefined;
    try {
      const reply = await inTime(turnMilliseconds(), work);
      list = unseen(this.#host, session, text, reply);
      this.#host.log(`list of a turn: ${list ? 'shown' : 'nothing to show'}, ${waited()}`);
    } catch {
      this.#host.log(`list of a turn: late, ${waited()}`);
      this.#late.keep(session, text, work);
      return;
    }
    // What was edited elsewhere since the last look shows in the next answer; this one did not wait for it.
    refresh(this.#host, []);
    if (!list) return;
    const part: ListPart = { id: partID, sessionID: session, messageID, type: 'text', synthetic: true, text: list };
    this.#held.set(messageID, part);
    if (this.#held.size > HELD) this.#held.delete(this.#held.keys().next().value!);
    // The request does not wait for the store; until it is done, and where it cannot be, the list is put in each time.
    store(this.#input, part)
      .then((error) => error && this.#host.log(`list not stored: ${JSON.stringify(error)}`))
      .catch((error) => this.#host.log(`list not stored: ${error.message}`));
  }
}

export const autoContext: HookFile = (host, input) => {
  if (!listsWanted()) return {};
  const late = new LateLists();
  const turns = new TurnLists(host, input, late);
  return {
    async 'chat.message'({ sessionID }, { message, parts }) {
      turns.begin(sessionID, message.id, parts);
    },
    async 'experimental.chat.messages.transform'(_, { messages }) {
      await turns.complete(messages as unknown as Message[]);
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
