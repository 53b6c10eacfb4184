// How full a session's context is: the provider's own count where it gave one, and an estimate of what came since.

/**
 * Tokens by what a text is made of, fitted by least squares to the counts of OpenAI's o200k_base and cl100k_base over 1,090 pieces of 4,000 characters
 * (Markdown, TypeScript, Lisp, C, Python, JSON): nine pieces of ten come within 9 %, whole contexts nearer.
 */
const WORD = 1.065;
/** A letter after the seventh of a word. */
const LONG = 0.169;
/** Up to three digits. */
const DIGITS = 1.905;
/** A run of marks, and each mark after its first. */
const MARK = 0.742;
const MORE_MARKS = 0.377;
/** A line's end with the indentation after it. */
const LINE = 0.479;
/** A change between letters and digits, as in hashes. */
const CHANGE = -0.421;

const PIECES = /\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|\p{L}|\p{Nd}+|\n\s*|[^\p{L}\p{Nd}\s]+/gu;

/** From here on a character is about a token: scripts without blanks. */
const WIDE = 0x2e80;

function pieceTokens(piece: string): number {
  const first = piece.codePointAt(0)!;
  if (first === 10) return LINE;
  if (first > WIDE) return piece.length;
  if (/^\p{Nd}/u.test(piece)) return DIGITS * Math.ceil(piece.length / 3);
  if (/^\p{L}/u.test(piece)) return WORD + LONG * Math.max(0, piece.length - 7);
  return MARK + MORE_MARKS * (piece.length - 1);
}

/** Tokens of TEXT, about, in the vocabularies of today's models. */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [piece] of text.matchAll(PIECES)) tokens += pieceTokens(piece);
  const changes = text.match(/\p{L}(?=\p{Nd})|\p{Nd}(?=\p{L})/gu)?.length ?? 0;
  return Math.max(0, Math.round(tokens + CHANGE * changes));
}

/** Of OpenCode 1.18's own tools, whose schemas are no JSON for a plugin: tokens of a field, 46 on average of the 23 of its tools. */
const FIELD = 46;
/** Fields of a tool that does not tell them. */
const FIELDS = 3;
/** Tokens of the names and braces around a tool. */
const FRAME = 15;

/** Tokens of a tool's definition as the provider is sent it, about. */
export function definitionTokens(definition: {
  description: string;
  parameters?: unknown;
  jsonSchema?: unknown;
}): number {
  const { description, parameters, jsonSchema } = definition;
  const fields = (parameters as { fields?: object } | undefined)?.fields;
  const schema = jsonSchema
    ? estimateTokens(JSON.stringify(jsonSchema))
    : FIELD * (fields ? Object.keys(fields).length : FIELDS);
  return FRAME + estimateTokens(description) + schema;
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
    model?: { modelID?: string };
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
function totalTokens({ input = 0, output = 0, reasoning = 0, cache }: Tokens): number {
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
