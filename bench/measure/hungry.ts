// Code that eats memory in as many ways as it can, each given to lisp_eval in turn: what was answered, whether the sidecar lived on, and whether
// the next call worked with what had been remembered before.
//   npx tsx bench/measure/hungry.ts [HEAP_MB] [ROUNDS]
// Prints one JSON object; what was not answered clearly or cost a restart is listed. The bars: every answer says what happened, the next call works.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { HUNGRY, overheard } from '../../test/hooks/hungry.ts';
import { writeFiles } from '../../test/scratch.ts';
import { chainedFiles } from './repositories.ts';

const heapMegabytes = Number(process.argv[2] ?? 1024);
const rounds = Number(process.argv[3] ?? 1);

const folder = mkdtempSync(path.join(tmpdir(), 'opl-hungry-'));
try {
  writeFiles(folder, chainedFiles(500));
  const told = await overheard(folder, heapMegabytes, Array.from({ length: rounds }, () => HUNGRY).flat());
  const bad = told.filter(({ clear, next }) => !clear || !next);
  const restarted = told.filter((one) => one.restarted).map(({ code }) => code);
  const slowest = told.reduce((most, one) => (one.seconds > most.seconds ? one : most));
  console.log(
    JSON.stringify({ heapMegabytes, asked: told.length, bad, restarts: restarted.length, restarted, slowest }, null, 1),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
