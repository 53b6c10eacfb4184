// How long answers about a change take on a root whose snapshot is there: the first of a new process and those after it.
//   npx tsx bench/measure/impact-speed.ts ROOT DIFF-FILE
// Prints one JSON object: milliseconds over the wire, medians of several processes; memory in MiB as Linux counts it (resident), nothing elsewhere.

import { readFileSync, realpathSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { prepareLaunch } from '../../plugin/channel/core.ts';
import { Sidecar } from '../../plugin/channel/sidecar.ts';
import { readSettings, sidecarOptions } from '../../plugin/settings.ts';

const PROCESSES = 3;
const REPEATED = 10;

const { positionals } = parseArgs({ allowPositionals: true });
const [folder, file] = positionals;
if (!folder || !file) {
  process.stderr.write('impact-speed.ts wants a folder and a file with a diff; its first lines say more.\n');
  process.exit(2);
}
const options = { ...sidecarOptions(realpathSync(folder), await readSettings()) };
const diff = readFileSync(file, 'utf8');
const median = (numbers: number[]) => Number([...numbers].sort((a, b) => a - b)[numbers.length >> 1]!.toFixed(1));

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Resident memory of the process PID: now and at most. */
function memory(pid: number): { now: number; most: number } | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kilobytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]);
    return { now: Math.round(kilobytes('VmRSS') / 1024), most: Math.round(kilobytes('VmHWM') / 1024) };
  } catch {
    return null;
  }
}

await prepareLaunch(options);
const indexing = new Sidecar(options);
await indexing.call('index', { rebuild: false });
await indexing.stop();

const starts: number[] = [];
const firsts: number[] = [];
const repeated: number[] = [];
const started: ReturnType<typeof memory>[] = [];
const held: ReturnType<typeof memory>[] = [];
let tests = 0;
for (let n = 0; n < PROCESSES; n += 1) {
  const sidecar = new Sidecar(options);
  const impact = () => sidecar.call('impact', { diff, file: null, target: null, limit: 40 });
  starts.push(await timed(() => sidecar.call('search', { name: 'main', limit: 1 })));
  const { pid } = await sidecar.describe();
  started.push(memory(pid));
  firsts.push(
    await timed(async () => {
      tests = (await impact())['affected-test'].length;
    }),
  );
  for (let k = 0; k < REPEATED; k += 1) repeated.push(await timed(impact));
  held.push(memory(pid));
  await sidecar.stop();
}
process.stdout.write(
  `${JSON.stringify(
    {
      'spawn to a first search': median(starts),
      'first answer about the change': median(firsts),
      'repeated answer': median(repeated),
      'tests listed': tests,
      'memory after the search': started[0],
      'memory after the answers': held[0],
    },
    null,
    2,
  )}\n`,
);
