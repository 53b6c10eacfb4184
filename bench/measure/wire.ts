// What the wire itself costs: from spawn to greeting, to the first answer from a snapshot, a round trip, and rows in bulk.
//   npx tsx bench/measure/wire.ts [ROOT]     (default: this repository)
// Prints one JSON object. Milliseconds, medians of fresh processes or of many calls; the bars stand beside the figures.

import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { prepareLaunch } from '../../plugin/channel/core.ts';
import { Sidecar } from '../../plugin/channel/sidecar.ts';
import { readSettings, sidecarOptions } from '../../plugin/settings.ts';

const STARTS = 9;
const CALLS = 2000;

const median = (numbers: number[]) => Number([...numbers].sort((a, b) => a - b)[numbers.length >> 1]!.toFixed(3));

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

const root = realpathSync(process.argv[2] ?? path.resolve(import.meta.dirname, '../..'));
const scratch = mkdtempSync(path.join(tmpdir(), 'opl-wire-'));
const options = { ...sidecarOptions(root, await readSettings()), indexFolder: scratch };
// The core is built and the snapshot written before anything is measured.
await prepareLaunch(options);
const first = new Sidecar(options);
await first.call('index', { rebuild: false });
await first.stop();

const greetings: number[] = [];
const answers: number[] = [];
for (let start = 0; start < STARTS; start += 1) {
  const sidecar = new Sidecar(options);
  greetings.push(await timed(() => sidecar.describe()));
  answers.push(greetings.at(-1)! + (await timed(() => sidecar.call('index', { rebuild: false }))));
  await sidecar.stop();
}

const sidecar = new Sidecar(options);
await sidecar.call('index', { rebuild: false });
const trips: number[] = [];
for (let call = 0; call < CALLS; call += 1) trips.push(await timed(() => sidecar.call('status', {})));
let rows = 0;
const onFields = () => {
  rows += 1;
};
const bulk = await timed(() => sidecar.call('symbols', {}, { onFields }));
await sidecar.stop();
rmSync(scratch, { recursive: true, force: true });

const figures = {
  root: path.basename(root),
  'start to greeting and open': median(greetings),
  'start to a whole index from the snapshot': { median: median(answers), bar: 150, of: 'a repository of 1,000 files' },
  'round trip': { median: median(trips), bar: 0.2 },
  'rows a second': Math.round(rows / (bulk / 1000)),
  rows,
};
process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
