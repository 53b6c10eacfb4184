// What one root costs the sidecar once its snapshot is there: starting, memory, the refresh after an edit, repo_context.
//   npx tsx bench/measure/inside.ts ROOT [TASK]
// One file of ROOT is edited and restored. Prints one JSON object: milliseconds, medians; memory in MiB as Linux counts it (resident), nothing elsewhere.

import { readFileSync, realpathSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { prepareLaunch } from '../../plugin/channel/core.ts';
import { Sidecar } from '../../plugin/channel/sidecar.ts';
import { readSettings, sidecarOptions } from '../../plugin/settings.ts';

const STARTS = 5;
const CALLS = 25;

const { positionals } = parseArgs({ allowPositionals: true });
if (!positionals[0]) {
  process.stderr.write('inside.ts wants a folder; its first lines say more.\n');
  process.exit(2);
}
const root = realpathSync(positionals[0]);
const task = positionals[1] ?? 'where is the configuration read and checked';
const options = { ...sidecarOptions(root, await readSettings()) };
const median = (numbers: number[]) => Number([...numbers].sort((a, b) => a - b)[numbers.length >> 1]!.toFixed(2));

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
const first = new Sidecar(options);
const { totals } = await first.call('index', { rebuild: false });
await first.stop();

const starts: number[] = [];
let afterStart: ReturnType<typeof memory> = null;
for (let n = 0; n < STARTS; n += 1) {
  const sidecar = new Sidecar(options);
  starts.push(await timed(() => sidecar.call('search', { name: 'main', limit: 1 })));
  afterStart = memory((await sidecar.describe()).pid);
  await sidecar.stop();
}

const sidecar = new Sidecar(options);
const context = () => sidecar.call('context', { task, limit: 10, offset: 0, explain: false });
const firstContext = await timed(context);
// From the third look on the tree is watched, where the system can.
for (let n = 0; n < 4; n += 1) await context();
await new Promise((resolve) => setTimeout(resolve, 500));
await context();
const contexts: number[] = [];
for (let n = 0; n < CALLS; n += 1) contexts.push(await timed(context));
const searches: number[] = [];
for (let n = 0; n < CALLS; n += 1)
  searches.push(await timed(() => sidecar.call('search', { name: 'main', limit: 10 })));

const { symbol } = await sidecar.call('search', { name: 'main', limit: 1 });
const edited = path.join(root, symbol[0]?.path ?? 'README.md');
const text = readFileSync(edited);
const { atime, mtime } = statSync(edited);
const refreshes: number[] = [];
try {
  for (let n = 0; n < CALLS; n += 1) {
    writeFileSync(edited, Buffer.concat([text, Buffer.from('\n'.repeat(n + 1))]));
    refreshes.push(await timed(() => sidecar.call('refresh', { paths: [path.relative(root, edited)] })));
  }
} finally {
  writeFileSync(edited, text);
  utimesSync(edited, atime, mtime);
}
const held = memory((await sidecar.describe()).pid);
await sidecar.stop();
process.stdout.write(
  `${JSON.stringify(
    {
      files: totals[0]?.files,
      definitions: totals[0]?.tags,
      'spawn to first answer': median(starts),
      'memory after it': afterStart,
      'first context': Number(firstContext.toFixed(0)),
      context: median(contexts),
      search: median(searches),
      'refresh after one edit': median(refreshes),
      'memory at the end': held,
    },
    null,
    2,
  )}\n`,
);
