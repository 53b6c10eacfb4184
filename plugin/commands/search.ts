// opl search: symbols and paths that contain a text.

import type { Answer, Command } from '../command.ts';
import { symbolJson, symbolTable } from '../render/symbols.ts';

const DEFAULT_SYMBOLS = 30;

export const searchCommand: Command<{ name: string; limit: number }> = {
  name: 'search',
  summary: 'symbols and paths that contain a text, in any case',
  example: 'opl search createUser',
  properties: {
    name: { type: 'string', minLength: 1, description: 'part of a name or path' },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: 100_000,
      default: DEFAULT_SYMBOLS,
      description: `symbols at most (${DEFAULT_SYMBOLS})`,
    },
  },
  required: ['name'],
  positional: 'name',
  async run(input, { sidecar, progress, signal }): Promise<Answer> {
    const door = await sidecar();
    await door.call('ready', { saved: true }, { onProgress: progress, signal });
    const { answer, symbol } = await door.call('search', input, { signal });
    const { complete = false, reason = null, total = 0, indexed = 0, searched = '' } = answer[0] ?? {};
    const lack = complete ? '' : `\nThe index is not complete: ${reason}`;
    const rest = total > symbol.length ? `\n… ${total - symbol.length} more; --limit shows more` : '';
    const text = symbol.length
      ? symbolTable(symbol) + rest
      : `Nothing contains ${JSON.stringify(input.name)} in ${indexed} indexed files (searched: ${searched}).`;
    return { json: { complete, reason, total, symbols: symbol.map(symbolJson) }, text: text + lack };
  },
};
