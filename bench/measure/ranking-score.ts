// How good a ranking of files is, and what an agent reads until it sees the right one.

import { type ContextReply, renderContext } from '../../plugin/render/context.ts';

export const DEPTHS = [1, 3, 5, 10] as const;

export interface Instance {
  readonly id: string;
  readonly repo: string;
  readonly commit: string;
  readonly lang: string;
  readonly query: string;
  readonly gold_files: readonly string[];
  readonly gold_functions?: readonly string[];
}

/** What `opl context --json` says, as far as it is scored. */
export interface Context {
  readonly complete: boolean;
  readonly total: number;
  readonly indexed: number;
  readonly files: ContextReply['ranked-file'];
  readonly symbols: ContextReply['symbol'];
  readonly related: ContextReply['related'];
}

export interface Outcome {
  readonly instance: Instance;
  /** The rank of each gold file, from 1; 0 when it is not among the files returned. */
  readonly ranks: readonly number[];
  /** The rank of each gold function among the symbols; undefined without gold functions. */
  readonly functionRanks: readonly number[] | undefined;
  /** Characters shown until the line of the first gold file, and of the first gold function, is there; 0 when neither is. */
  readonly charactersToFile: number;
  readonly charactersToFunction: number;
}

function rankOf(list: readonly string[], wanted: string): number {
  return list.indexOf(wanted) + 1;
}

function charactersTo(text: string, wanted: (line: string) => boolean): number {
  let read = 0;
  for (const line of text.split('\n')) {
    read += line.length + 1;
    if (wanted(line)) return read;
  }
  return 0;
}

function rendered(context: Context): string {
  const { complete, total, indexed, files, symbols, related } = context;
  const answer = { complete, reason: undefined, total, indexed, searched: '' };
  return renderContext({ answer: [answer as never], 'ranked-file': files, symbol: symbols, related, channel: [] });
}

export function score(instance: Instance, context: Context): Outcome {
  const files = [...new Set(context.files.filter((file) => file.hop === 0).map((file) => file.path))];
  const symbols = context.symbols
    .filter((one) => one.role === 'match')
    .map((one) => `${one.path}::${[one.scope, one.name].filter(Boolean).join('.')}`);
  const functions = instance.gold_functions?.length ? instance.gold_functions : undefined;
  const text = rendered(context);
  const names = new Set((functions ?? []).map((one) => one.split(/::|\./).at(-1) ?? ''));
  return {
    instance,
    ranks: instance.gold_files.map((file) => rankOf(files, file)),
    functionRanks: functions?.map((one) => rankOf([...new Set(symbols)], one)),
    charactersToFile: charactersTo(text, (line) => instance.gold_files.some((file) => line.startsWith(`${file} `))),
    charactersToFunction: charactersTo(text, (line) => [...line.matchAll(/\w+/g)].some(([word]) => names.has(word))),
  };
}

/** The share, in percent, of outcomes all of whose gold is within DEPTH, and of those any of whose is. */
export function accuracy(ranks: readonly (readonly number[])[], depth: number): { all: number; any: number } {
  const within = (rank: number) => rank > 0 && rank <= depth;
  const share = (count: number) => (100 * count) / Math.max(1, ranks.length);
  return {
    all: share(ranks.filter((one) => one.every(within)).length),
    any: share(ranks.filter((one) => one.some(within)).length),
  };
}

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
