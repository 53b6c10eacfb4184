// Definitions as JSON and as a table.

import type { Symbol as Definition } from '../channel/messages.generated.ts';
import { table } from './table.ts';

/** The keys that COMMANDS of the shell promise for a symbol. */
export function symbolJson({ path, line, end, kind, name, scope, signature, role, hop, score, certainty }: Definition) {
  return { path, line, end, kind, name, scope, signature, role, hop, score, ...(certainty ? { certainty } : {}) };
}

/** SYMBOLS as lines `path:line  kind  name  declaration`. */
export function symbolTable(symbols: readonly Definition[]): string {
  return table(
    symbols.map(({ path, line, kind, name, scope, signature }) => [
      `${path}:${line}`,
      kind,
      `${scope ? `${scope}.` : ''}${name}`,
      signature ?? '',
    ]),
  );
}
