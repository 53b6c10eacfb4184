// When a session is handed over, and how much its document may hold. Pure: numbers in, numbers out.

export interface Limits {
  /** Tokens that the model's context holds. */
  context: number;
  /** Tokens it may answer with, which OpenCode keeps free. */
  output: number;
}

/** A document takes this part of the context, within these bounds. */
const DOCUMENT_SHARE = 0.05;
const DOCUMENT_LEAST = 4096;
const DOCUMENT_MOST = 32_768;

/** OpenCode keeps no more than this free for the answer (its OUTPUT_TOKEN_MAX). */
const ANSWER_MOST = 32_000;

/** Tokens that the request for the document takes itself, its facts included. */
export const REQUEST_TOKENS = 2500;

const THRESHOLD = 80;

/** Reminders after the request. */
export const REMINDERS = 3;

/** Tokens that a handover document may have under LIMITS. */
export function documentTokens({ context }: Limits): number {
  return Math.min(DOCUMENT_MOST, Math.max(DOCUMENT_LEAST, Math.round(context * DOCUMENT_SHARE)));
}

/** Tokens at which OpenCode compacts by itself. */
export function usableTokens({ context, output }: Limits): number {
  return context - Math.min(output || ANSWER_MOST, ANSWER_MOST);
}

/** Tokens at which the document is asked for: at PERCENT of the context, earlier where it would not fit before OpenCode compacts. */
export function startTokens(limits: Limits, percent: number): number {
  const wanted = (limits.context * percent) / 100;
  return Math.floor(Math.min(wanted, usableTokens(limits) - documentTokens(limits) - REQUEST_TOKENS));
}

export type Decision =
  /** nothing to do yet */
  | 'wait'
  /** ask for the document */
  | 'ask'
  /** no document fits any more: compact without one */
  | 'compact';

/** What to do with TOKENS used. */
export function decide(tokens: number, limits: Limits, percent: number): Decision {
  if (limits.context <= 0) return 'wait';
  const start = startTokens(limits, percent);
  // Where not even an empty session leaves room for a document, OpenCode's own compaction is all there is.
  if (start <= 0) return tokens >= (limits.context * percent) / 100 ? 'compact' : 'wait';
  if (tokens < start) return 'wait';
  return tokens + documentTokens(limits) <= usableTokens(limits) ? 'ask' : 'compact';
}

export interface HandoverSettings {
  disabled: boolean;
  percent: number;
  /** The document's path, relative to the root or absolute. */
  file: string;
  log: string | null;
}

/** The settings of ENVIRONMENT; a threshold that is no percentage is the default. */
export function handoverSettings(environment: NodeJS.ProcessEnv = process.env): HandoverSettings {
  const given = Number.parseFloat(environment.OC_CTX_HANDOVER_THRESHOLD ?? '');
  // 0.8 and 80 both mean 80 %.
  const percent = given > 0 && given <= 1 ? given * 100 : given;
  return {
    disabled: /^(1|true|yes|on)$/i.test(environment.OC_CTX_HANDOVER_DISABLED ?? ''),
    percent: percent >= 10 && percent <= 99 ? percent : THRESHOLD,
    file: environment.OC_CTX_HANDOVER_HANDOFF_FILE || 'HANDOVER.md',
    log: environment.OC_CTX_HANDOVER_LOG_FILE || null,
  };
}
