// Turns of the real OpenCode binary on a large repository: how many get their list of likely places in time, and how long they wait for it.
//   npx tsx bench/measure/turns.ts [FILES] [TURNS]
// Prints one JSON object. Each turn comes after an edit, as in work. The bar: a list adds 30 ms at most to a turn.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { served } from '../../test/opencode/served.ts';
import { chainedFiles } from './repositories.ts';

const files = Number(process.argv[2] ?? 5000);
const turns = Number(process.argv[3] ?? 40);

/** Between a turn's end and the next: no one reads an answer and types in less. */
const PAUSE_MILLISECONDS = 1500;

const after: (() => unknown)[] = [];
try {
  const edit = (turn: number) => ({
    tools: [
      { name: 'write', args: { filePath: `part1/made${turn}.py`, content: `def made${turn}():\n    return 1\n` } },
    ],
  });
  const steps = Array.from({ length: turns }, (_, turn) => [edit(turn), { text: 'Done.' }]).flat();
  const first = { tools: [{ name: 'lisp_eval', args: { code: '(index-totals)' } }] };
  const { model, project, say } = await served(
    { after: (work) => after.push(work) },
    [first, { text: 'Ready.' }, ...steps],
    {
      files: chainedFiles(files),
      env: { OPL_DEBUG: 'opl.log' },
    },
  );
  await say('please get ready for the work');
  await sleep(5000);
  for (let turn = 0; turn < turns; turn += 1) {
    await say(`where does handle${turn * 7 + 3} call its step and why`);
    await sleep(PAUSE_MILLISECONDS);
  }
  const log = readFileSync(path.join(project.folder, 'opl.log'), 'utf8');
  const waits = [...log.matchAll(/list of a turn: ([\w ]+), ([\d.]+) ms/g)].slice(-turns);
  const milliseconds = waits.map(([, , text]) => Number(text)).sort((a, b) => a - b);
  const at = (share: number) =>
    milliseconds[Math.min(milliseconds.length - 1, Math.floor(milliseconds.length * share))];
  const listed = JSON.stringify(model.main().at(-1)!.messages).split('<likely-places').length - 1;
  const late = waits.filter(([, how]) => how === 'late').length;
  console.log(JSON.stringify({ files, turns, listed, late, waited: { median: at(0.5), p95: at(0.95), most: at(1) } }));
} finally {
  for (const work of after.reverse()) await work();
}
