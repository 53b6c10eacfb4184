// opl context: what repo_context answers, from a shell.

import type { Answer, Command } from '../command.ts';
import { renderContext } from '../render/context.ts';
import { symbolJson } from '../render/symbols.ts';

const DEFAULT_FILES = 12;

/** A terminal scrolls; the limit on files is the reader's. */
const TERMINAL_BUDGET = 100_000;

interface Input {
  task: string;
  limit: number;
  offset: number;
  explain: boolean;
}

export const contextCommand: Command<Input> = {
  name: 'context',
  summary: 'files and symbols that a task is about, best first',
  example: 'opl context "where are routes matched" --limit 5',
  properties: {
    task: { type: 'string', minLength: 1, description: 'the task in plain words; - reads it from standard input' },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      default: DEFAULT_FILES,
      description: `files at most (${DEFAULT_FILES})`,
    },
    offset: { type: 'integer', minimum: 0, default: 0, description: 'files to leave out at the start' },
    explain: { type: 'boolean', default: false, description: 'show what each channel adds to a score' },
  },
  required: ['task'],
  positional: 'task',
  fromInput: 'task',
  async run(input, { sidecar, progress, signal }): Promise<Answer> {
    const door = await sidecar();
    await door.call('ready', { saved: true }, { onProgress: progress, signal });
    const reply = await door.call('context', input, { signal });
    const answer = reply.answer[0];
    const shares = new Map<string, Record<string, number>>();
    for (const { path, channel, share } of reply.channel) shares.set(path, { ...shares.get(path), [channel]: share });
    const json = {
      complete: answer?.complete ?? false,
      reason: answer?.reason ?? null,
      total: answer?.total ?? 0,
      indexed: answer?.indexed ?? 0,
      files: reply['ranked-file'].map((file) => ({
        ...file,
        ...(input.explain ? { channels: shares.get(file.path) ?? {} } : {}),
      })),
      symbols: reply.symbol.map(symbolJson),
      related: reply.related,
    };
    return { json, text: renderContext(reply, TERMINAL_BUDGET) };
  },
};
