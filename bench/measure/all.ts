// `npm run benchmark`: every measurement that needs nothing but this repository, one after another, each in a process of its own.
// The others, which want data or mirrors, say in their first lines how they are run.

import { spawnSync } from 'node:child_process';
import path from 'node:path';

const OFFLINE = ['wire.ts', 'hooks.ts'];

let failed = 0;
for (const name of OFFLINE) {
  process.stdout.write(`\n== bench/measure/${name}\n`);
  const words = ['--import', 'tsx', path.join(import.meta.dirname, name)];
  const { status } = spawnSync(process.execPath, words, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) failed += 1;
}
process.exit(failed === 0 ? 0 : 1);
