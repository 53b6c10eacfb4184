// What verify adds to a run's own time, with the index warm: one passing node:test, and a command that does nothing.
//   tsx bench/measure/verify-overhead.ts [ROUNDS]

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createHost } from '../../plugin/host.ts';
import { sidecarOptions } from '../../plugin/settings.ts';
import { sidecarSeams } from '../../plugin/verify/sidecar-seams.ts';
import { verify } from '../../plugin/verify/verify.ts';

const rounds = Number(process.argv[2] ?? 15);
const root = mkdtempSync(path.join(tmpdir(), 'opl-overhead-'));
const middle = (numbers: number[]): number => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

function write(name: string, text: string): void {
  mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
  writeFileSync(path.join(root, name), text);
}

write('package.json', JSON.stringify({ name: 'sample', type: 'module', scripts: { test: 'node --test test/' } }));
write('src/add.js', 'export function add(a, b) {\n  return a + b;\n}\n');
write(
  'test/add.test.js',
  "import assert from 'node:assert';\nimport { test } from 'node:test';\nimport { add } from '../src/add.js';\n\ntest('adds', () => {\n  assert.equal(add(1, 1), 2);\n});\n",
);
for (const words of [
  ['init', '-q'],
  ['add', '-A'],
  ['-c', 'user.name=b', '-c', 'user.email=b@example.org', 'commit', '-q', '-m', 'first'],
])
  execFileSync('git', words, { cwd: root });
write('src/add.js', 'export function add(a, b) {\n  return b + a;\n}\n');

const host = createHost(root);
try {
  const { indexFolder } = sidecarOptions(root, await host.settings());
  const once = async (command: string | undefined) => {
    const began = performance.now();
    const cpu = process.cpuUsage();
    const answer = await verify({
      root,
      command,
      targetedOnly: command === undefined,
      seams: sidecarSeams(() => host.sidecar(), indexFolder),
      spoolFolder: path.join(indexFolder, 'verify'),
    });
    const { user, system } = process.cpuUsage(cpu);
    const own = answer.ran.reduce((sum, one) => sum + one.seconds, 0);
    return {
      verdict: answer.verdict,
      own,
      added: (performance.now() - began) / 1000 - own,
      host: (user + system) / 1e6,
    };
  };
  for (const command of [undefined, 'true']) {
    await once(command);
    const runs = [];
    for (let round = 0; round < rounds; round++) runs.push(await once(command));
    process.stdout.write(
      `${command ?? 'node --test'}: ${runs[0]?.verdict}, run ${middle(runs.map(({ own }) => own)).toFixed(2)} s, added ${middle(runs.map(({ added }) => added)).toFixed(3)} s at the median of ${rounds} (least ${Math.min(...runs.map(({ added }) => added)).toFixed(3)}), host's CPU ${middle(runs.map(({ host: used }) => used)).toFixed(3)} s\n`,
    );
  }
} finally {
  await host.dispose();
  rmSync(root, { recursive: true, force: true });
}
