// Indexing against ctags alone: tsx bench/measure/index-speed.ts FOLDER [--languages C,C++] [--rounds 3]
// Fresh processes and empty caches, the order turned round each time; prints each sample, medians, the ratio, and what was found,
// so that a fast wrong answer shows. Then the warm start and the refresh after one edit.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

const CLI = path.join(import.meta.dirname, '../../dist/cli.js');

const { values, positionals } = parseArgs({
  options: { languages: { type: 'string' }, rounds: { type: 'string', default: '3' } },
  allowPositionals: true,
});
const [folder] = positionals;
if (!folder) {
  process.stderr.write('index-speed.ts wants a folder; its first lines say more.\n');
  process.exit(2);
}

function timed(command: string, args: string[], cache: string): { seconds: number; stdout: string } {
  const start = process.hrtime.bigint();
  const { status, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    env: { ...process.env, XDG_CACHE_HOME: cache },
  });
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stderr.slice(-400)}`);
  return { seconds: Number(process.hrtime.bigint() - start) / 1e9, stdout };
}

const median = (numbers: number[]) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

const cache = mkdtempSync(path.join(tmpdir(), 'opl-speed-'));
// The core is compiled once per version, not per repository: it is made before anything is measured.
timed(process.execPath, [CLI, 'doctor'], cache);

const ctagsArgs = ['--options=NONE', '-R', ...(values.languages ? [`--languages=${values.languages}`] : []), '-f'];
function ctags(): number {
  const { seconds } = timed('ctags', [...ctagsArgs, path.join(cache, 'tags'), folder as string], cache);
  rmSync(path.join(cache, 'tags'), { force: true });
  return seconds;
}
function opl(): { seconds: number; inside: number; found: string } {
  rmSync(path.join(cache, 'opencode-plugin-lisp/roots'), { recursive: true, force: true });
  const { seconds, stdout } = timed(process.execPath, [CLI, 'index', '--json', '--root', folder as string], cache);
  const { files, tags, callSites, edges, seconds: inside } = JSON.parse(stdout);
  return { seconds, inside, found: `${files} files, ${tags} tags, ${callSites} call sites, ${edges} edges` };
}

const alone: number[] = [];
const whole: number[] = [];
let found = '';
for (let round = 0; round < Number(values.rounds); round += 1) {
  const steps = [
    () => alone.push(ctags()),
    () => {
      const one = opl();
      whole.push(one.seconds);
      found = one.found;
    },
  ];
  for (const step of round % 2 === 0 ? steps : steps.reverse()) step();
  process.stdout.write(
    `round ${round + 1}: ctags ${alone.at(-1)?.toFixed(2)} s, opl index ${whole.at(-1)?.toFixed(2)} s\n`,
  );
}
process.stdout.write(
  `${found}\nmedian: ctags ${median(alone).toFixed(2)} s, opl index ${median(whole).toFixed(2)} s, ratio ${(median(whole) / median(alone)).toFixed(2)}\n`,
);
const warm = [0, 1, 2].map(
  () => timed(process.execPath, [CLI, 'search', 'main', '--limit', '1', '--json', '--root', folder], cache).seconds,
);
process.stdout.write(`warm start to first answer, with Node's own start: median ${median(warm).toFixed(2)} s\n`);
rmSync(cache, { recursive: true, force: true });
