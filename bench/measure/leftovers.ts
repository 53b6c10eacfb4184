// Runs of the real OpenCode binary in a row, each with searches, edits, evaluations and commands: which processes (sbcl, ctags, git, opencode) they leave.
//   npx tsx bench/measure/leftovers.ts [RUNS]
// Prints one JSON object. The bar: none after 20 runs.

import { runInARow } from '../../test/opencode/leftovers.ts';

const runs = Number(process.argv[2] ?? 20);
const after: (() => unknown)[] = [];
try {
  const started = Date.now();
  const { good, left } = await runInARow({ after: (work) => after.push(work) }, runs, (number, count) =>
    process.stderr.write(`run ${number}: ${count} left so far\n`),
  );
  console.log(JSON.stringify({ runs, good, left, secondsEach: Math.round((Date.now() - started) / runs / 100) / 10 }));
} finally {
  for (const work of after.reverse()) await work();
}
