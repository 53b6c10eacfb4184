// opl symbols and opl calls: every row, as the wire has it. Fields on the wire are escaped as a TSV file's must be, so a line is passed on as it came.

import type { StructureName } from '../channel/messages.generated.ts';
import { decodeRow } from '../channel/rows.ts';
import type { Command, Surroundings } from '../command.ts';

/** So much text is gathered before it is written: a million small writes cost seconds. */
const CHUNK_CHARACTERS = 65_536;

/** Gathers pieces and writes them in chunks. Rows arrive faster than they are awaited, so what is written is chained. */
function gatherer(write: Surroundings['write']) {
  let gathered = '';
  let written = Promise.resolve();
  const flush = () => {
    const text = gathered;
    gathered = '';
    written = written.then(() => write(text));
  };
  return {
    add(text: string) {
      gathered += text;
      if (gathered.length >= CHUNK_CHARACTERS) flush();
    },
    async end(text: string) {
      gathered += text;
      flush();
      await written;
    },
  };
}

function rowWriter(asJson: boolean, write: Surroundings['write']) {
  const out = gatherer(write);
  let first = true;
  return {
    onFields(structure: StructureName, fields: readonly string[]) {
      if (!asJson) return out.add(`${fields.join('\t')}\n`);
      out.add(`${first ? '[' : ',\n'}${JSON.stringify(Object.values(decodeRow(structure, fields)))}`);
      first = false;
    },
    end: () => out.end(asJson ? (first ? '[]\n' : ']\n') : ''),
  };
}

export const symbolsCommand: Command<Record<string, never>> = {
  name: 'symbols',
  summary: 'every definition: path name kind line end scope',
  example: 'opl symbols | grep createUser',
  properties: {},
  required: [],
  async run(_, { sidecar, progress, signal, asJson, write }) {
    const door = await sidecar();
    await door.call('ready', { saved: true }, { onProgress: progress, signal });
    const { onFields, end } = rowWriter(asJson, write);
    await door.call('symbols', {}, { signal, onFields });
    await end();
    return undefined;
  },
};

export const callsCommand: Command<{ possible: boolean }> = {
  name: 'calls',
  summary:
    'every resolved call: caller_path caller_symbol call_line callee_path callee_name callee_line certainty rule',
  example: 'opl calls --possible',
  properties: { possible: { type: 'boolean', default: false, description: 'also calls that only a name speaks for' } },
  required: [],
  async run({ possible }, { sidecar, progress, signal, asJson, write }) {
    const door = await sidecar();
    await door.call('ready', { saved: true }, { onProgress: progress, signal });
    const { onFields, end } = rowWriter(asJson, write);
    await door.call('calls', { possible }, { signal, onFields });
    await end();
    return undefined;
  },
};
