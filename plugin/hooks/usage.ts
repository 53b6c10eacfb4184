// How full a session's context is: the provider's own count where it gave one, and an estimate of what came since.

/** Letters of a run, and digits, that one token takes; as sidecar/session/summary.lisp has it. */
const LETTERS_PER_TOKEN = 5;
const DIGITS_PER_TOKEN = 3;

/** From here on a character is about a token: scripts without blanks. */
const WIDE = 0x2e80;

/** Tokens of TEXT, about: letters in runs, digits in threes, every other mark one; blanks go with the word that follows them. */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [run] of text.matchAll(/\p{L}+|\p{Nd}+|[^\p{L}\p{Nd} ]/gu)) {
    const first = run.codePointAt(0)!;
    if (/^\p{Nd}/u.test(run)) tokens += Math.ceil(run.length / DIGITS_PER_TOKEN);
    else if (/^\p{L}/u.test(run)) tokens += first > WIDE ? run.length : Math.ceil(run.length / LETTERS_PER_TOKEN);
    else tokens += 1;
  }
  return tokens;
}

interface Tokens {
  input?: number;
  output?: number;
  reasoning?: number;
  cache?: { read?: number; write?: number };
}

export interface Message {
  info: {
    id?: string;
    role?: string;
    sessionID?: string;
    summary?: unknown;
    tokens?: Tokens;
    time?: { created?: number };
  };
  parts: {
    type?: string;
    text?: string;
    synthetic?: boolean;
    state?: { input?: unknown; output?: unknown; time?: { compacted?: number } };
  }[];
}

export interface Usage {
  tokens: number;
  /** `measured` when the provider counted all but what came after its last answer. */
  how: 'measured' | 'estimated';
}

/** Everything that the next request carries again. */
export function totalTokens({ input = 0, output = 0, reasoning = 0, cache }: Tokens): number {
  return input + output + reasoning + (cache?.read ?? 0) + (cache?.write ?? 0);
}

function resultTokens(parts: Message['parts']): number {
  let tokens = 0;
  for (const { type, state } of parts)
    if (type === 'tool' && typeof state?.output === 'string' && !state.time?.compacted)
      tokens += estimateTokens(state.output);
  return tokens;
}

function messageTokens({ parts }: Message): number {
  let tokens = resultTokens(parts);
  for (const { type, text, state } of parts) {
    if (type === 'text' || type === 'reasoning') tokens += estimateTokens(text ?? '');
    if (type === 'tool') tokens += estimateTokens(JSON.stringify(state?.input ?? {}));
  }
  return tokens;
}

const created = (message: Message) => message.info.time?.created ?? 0;

/** What MESSAGES, the history of the next request, amount to. FIXED: tokens of prompt and tools, for when nothing was counted yet. */
export function contextUsage(messages: readonly Message[], fixed = 0): Usage {
  // Counts from before a compaction speak of a context that is gone.
  const compacted = Math.max(0, ...messages.filter((message) => message.info.summary === true).map(created));
  const counted = messages.findLastIndex(
    ({ info }, index) =>
      info.role === 'assistant' &&
      info.summary !== true &&
      totalTokens(info.tokens ?? {}) > 0 &&
      created(messages[index]!) > compacted,
  );
  if (counted < 0) {
    return { tokens: fixed + messages.reduce((sum, message) => sum + messageTokens(message), 0), how: 'estimated' };
  }
  const { info, parts } = messages[counted]!;
  const since = messages.slice(counted + 1).reduce((sum, message) => sum + messageTokens(message), 0);
  // Results of its calls were not in the request that was counted.
  return { tokens: totalTokens(info.tokens!) + resultTokens(parts) + since, how: 'measured' };
}
