// An answer of the context operation as text for a model or a terminal, within a budget.

import type { Answer, Channel, Symbol as Definition, RankedFile, Related } from '../channel/messages.generated.ts';

/** Some 1,200 tokens: five files with their symbols, where 88 of 100 issues have a file that their fix changed, and the names of more. */
const BUDGET_CHARACTERS = 4_800;

const SYMBOLS_PER_FILE = 8;

/** The score of a file for which less speaks than against it: it may hold a word, and is not worth a line after others. */
const NEXT_TO_NOTHING = 0.001;

export interface ContextReply {
  answer: readonly Answer[];
  'ranked-file': readonly RankedFile[];
  symbol: readonly Definition[];
  related: readonly Related[];
  channel: readonly Channel[];
}

/** One line for SYMBOL: where, and its declaration as the file has it; its kind and name when that is not known. */
function symbolLine({ line, end, kind, name, scope, signature, role }: Definition): string {
  const lines = end && end !== line ? `${line}-${end}` : `${line}`;
  const what = signature ?? `${kind} ${name}`;
  const notes = [scope ? `in ${scope}` : '', role && role !== 'match' ? role : ''].filter(Boolean).join(', ');
  return `${lines}: ${what}${notes ? `  (${notes})` : ''}`;
}

function header(answer: Answer | undefined, shown: number): string[] {
  if (!answer) return ['The sidecar gave no answer.'];
  const state = answer.complete ? '' : `The index is not complete: ${answer.reason ?? 'it is still being made'}. `;
  if (shown === 0) {
    return [
      `${state}Nothing was found in ${answer.indexed} indexed files (searched: ${answer.searched}).${answer.complete ? ' Try names or words from the code.' : ''}`,
    ];
  }
  const more = answer.total > shown ? ` of ${answer.total}` : '';
  return [`${state}${shown}${more} files, best first (${answer.indexed} indexed).`];
}

/** Files by calls, tests and base classes stand apart from the ranking: `path  (role) why`. */
function relatedLine(file: RankedFile, symbols: readonly Definition[]): string {
  const symbol = symbols.find((one) => one.role === file.role);
  const place = symbol ? `:${symbol.line}${symbol.end && symbol.end !== symbol.line ? `-${symbol.end}` : ''}` : '';
  return `  ${file.path}${place}  (${file.role}) ${file.reasons.join('; ')}`.trimEnd();
}

function fileLines(file: RankedFile, symbols: readonly Definition[], shares: readonly Channel[]): string[] {
  const hop = file.hop > 0 ? `, ${file.hop} call${file.hop > 1 ? 's' : ''} away` : '';
  const lines = [`${file.path}  (${file.role}${hop}) ${file.reasons.join('; ')}`.trimEnd()];
  for (const symbol of symbols.slice(0, SYMBOLS_PER_FILE)) lines.push(`  ${symbolLine(symbol)}`);
  if (symbols.length > SYMBOLS_PER_FILE) lines.push(`  … ${symbols.length - SYMBOLS_PER_FILE} more symbols`);
  for (const { channel, share } of shares) lines.push(`    ${channel} ${share.toFixed(3)}`);
  return lines;
}

function by<T extends { path: string }>(rows: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) groups.set(row.path, [...(groups.get(row.path) ?? []), row]);
  return groups;
}

/** REPLY as text of at most BUDGET characters; what did not fit is counted. */
export function renderContext(reply: ContextReply, budget = BUDGET_CHARACTERS): string {
  const files = reply['ranked-file'].filter((file) => file.hop === 0);
  const apart = reply['ranked-file'].filter((file) => file.hop > 0);
  const symbols = by(reply.symbol);
  const shares = by(reply.channel);
  const lines = header(reply.answer[0], files.length);
  const related = apart.map((file) => relatedLine(file, symbols.get(file.path) ?? []));
  // what the related block and the closing line need is kept for them
  let used = lines.join('\n').length + related.reduce((sum, line) => sum + line.length + 1, 0) + 80;
  const fits = (more: readonly string[]) => {
    const size = more.reduce((sum, line) => sum + line.length + 1, 0);
    if (used + size > budget) return false;
    used += size;
    lines.push(...more);
    return true;
  };
  let left = 0;
  let hardly = 0;
  for (const file of files) {
    const name = [`${file.path}  (${file.role})`];
    if (file.score <= NEXT_TO_NOTHING && file !== files[0]) hardly += 1;
    else if (!fits(fileLines(file, symbols.get(file.path) ?? [], shares.get(file.path) ?? [])) && !fits(name))
      left += 1;
  }
  if (related.length > 0) lines.push('', 'Related, by calls, bases and tests:', ...related);
  if (hardly > 0) lines.push(`… ${hardly} more ${hardly > 1 ? 'files that hardly fit' : 'file that hardly fits'}.`);
  if (left > 0) lines.push(`… ${left} more files; ask with a smaller limit or more exact words.`);
  return lines.join('\n');
}
