// Every framework in five states, run for real: is the verdict right, are the failures, and what does verify add to the run's own time?
//   npm run bench:verify [-- FRAMEWORK…]     OPL_BENCH_INSTALL=1 installs what is missing from Debian (as root) and npm

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { cpus, hostname, tmpdir, totalmem } from 'node:os';
import path from 'node:path';
import { createHost } from '../../plugin/host.ts';
import { sidecarOptions } from '../../plugin/settings.ts';
import type { VerifyAnswer } from '../../plugin/verify/answer.ts';
import { sidecarSeams } from '../../plugin/verify/sidecar-seams.ts';
import { verify } from '../../plugin/verify/verify.ts';
import { type Framework, STATES, type State } from './verify-framework.ts';
import { FRAMEWORKS } from './verify-frameworks.ts';

/** Longer than any start of a runner here, shorter than patience. */
const LIMIT_SECONDS = 120;
const HANG_SECONDS = 15;
const scratch = process.env.OPL_BENCH_SCRATCH ?? mkdtempSync(path.join(tmpdir(), 'opl-matrix-'));

interface Row {
  readonly framework: string;
  readonly state: State;
  readonly verdict: string;
  readonly right: boolean;
  readonly failures: string;
  readonly counts: string;
  readonly seconds: number;
  readonly added: number;
}

function onPath(program: string): boolean {
  return (process.env.PATH ?? '').split(path.delimiter).some((folder) => existsSync(path.join(folder, program)));
}

function install(frameworks: readonly Framework[]): void {
  mkdirSync(scratch, { recursive: true });
  const npm = [...new Set(frameworks.flatMap((one) => one.npm ?? []))];
  const missing = npm.filter(
    (name) => !existsSync(path.join(scratch, 'node_modules', name.replace(/(.)@[^@]+$/, '$1'))),
  );
  if (missing.length > 0) {
    if (!existsSync(path.join(scratch, 'package.json')))
      writeFileSync(path.join(scratch, 'package.json'), '{"private":true}');
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', ...npm], { cwd: scratch, stdio: 'inherit' });
  }
  if (process.env.OPL_BENCH_INSTALL !== '1') return;
  // A program may be there without the libraries that its tests need; where dpkg is not, apt-get is not either.
  const lacking = (name: string) => {
    try {
      return !/^Status: install ok installed$/m.test(
        execFileSync('dpkg', ['-s', name], { encoding: 'utf8', stdio: 'pipe' }),
      );
    } catch {
      return true;
    }
  };
  const apt = [...new Set(frameworks.flatMap(({ apt: packages = [] }) => packages))].filter(lacking);
  if (apt.length > 0)
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', ...apt], { stdio: 'ignore' });
}

function lay(framework: Framework, state: State): string {
  const root = path.join(mkdtempSync(path.join(scratch, `${framework.name}-${state}-`)));
  for (const [name, text] of Object.entries({ ...framework.shared, ...framework.states[state] })) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  if (framework.npm) symlinkSync(path.join(scratch, 'node_modules'), path.join(root, 'node_modules'));
  // Bare file names of a log are looked for in what git knows.
  execFileSync('git', ['init', '-q'], { cwd: root });
  execFileSync('git', ['add', '-A'], { cwd: root });
  if (framework.prepare) execFileSync(framework.prepare, { shell: true, cwd: root, stdio: 'ignore' });
  return root;
}

async function run(framework: Framework, state: State): Promise<Row> {
  const root = lay(framework, state);
  const host = createHost(root);
  try {
    const { indexFolder } = sidecarOptions(root, await host.settings());
    // A session's sidecar runs already when its first change is verified.
    await (await host.sidecar()).call('status', {}).catch(() => undefined);
    const began = performance.now();
    const answer = await verify({
      root,
      command: framework.command,
      timeoutSeconds: state === 'hanging' ? HANG_SECONDS : LIMIT_SECONDS,
      rerun: false,
      seams: sidecarSeams(() => host.sidecar(), indexFolder),
      spoolFolder: path.join(scratch, 'spool'),
    });
    const seconds = (performance.now() - began) / 1000;
    const own = answer.ran.reduce((sum, one) => sum + one.seconds, 0);
    if (process.env.OPL_BENCH_SHOW) process.stderr.write(`${JSON.stringify(answer, null, 1)}\n`);
    return {
      framework: framework.name,
      state,
      verdict: answer.verdict,
      ...judge(framework, state, answer),
      seconds: own,
      added: seconds - own,
    };
  } finally {
    await host.dispose();
  }
}

function judge(framework: Framework, state: State, answer: VerifyAnswer): Pick<Row, 'right' | 'failures' | 'counts'> {
  const wanted = {
    passing: ['passed'],
    failing: ['failed'],
    broken: framework.broken,
    empty: framework.empty,
    hanging: ['timeout'],
  }[state];
  const counts = answer.ran.map(({ passed, failed }) => `${passed ?? '?'}/${failed ?? '?'}`).join(' ');
  if (!wanted.includes(answer.verdict as never))
    return { right: false, failures: `wanted ${wanted.join(' or ')}`, counts };
  if (state !== 'failing') return { right: true, failures: `${answer.failures.length}`, counts };
  const { test, path: file, line } = framework.failure;
  const [found, ...more] = answer.failures;
  const faults = [
    found?.test?.includes(test) ? '' : `test ${found?.test ?? 'none'}`,
    file === undefined || found?.path === file ? '' : `path ${found?.path}`,
    line === undefined || found?.line === line ? '' : `line ${found?.line}, not ${line}`,
    more.length === 0 ? '' : `${more.length} too many`,
  ].filter((fault) => fault !== '');
  return {
    right: faults.length === 0,
    failures: faults.length === 0 ? 'name, file and line' : faults.join(', '),
    counts,
  };
}

const asked = process.argv.slice(2).filter((word) => !word.startsWith('-'));
const states = process.env.OPL_BENCH_STATES?.split(',') ?? STATES;
const chosen = FRAMEWORKS.filter(({ name }) => asked.length === 0 || asked.includes(name));
install(chosen);
const rows: Row[] = [];
const absent: string[] = [];
for (const framework of chosen) {
  if (!framework.needs.every(onPath)) {
    absent.push(framework.name);
    continue;
  }
  for (const state of STATES.filter((one) => states.includes(one))) {
    const row = await run(framework, state);
    rows.push(row);
    process.stdout.write(
      `${row.right ? 'ok  ' : 'FAIL'} ${row.framework} ${row.state}: ${row.verdict} (${row.failures}; ${row.counts}) ${row.seconds.toFixed(1)} s + ${row.added.toFixed(2)} s\n`,
    );
  }
}
const right = rows.filter((row) => row.right).length;
const added = rows
  .filter(({ state }) => state !== 'hanging')
  .map((row) => row.added)
  .sort((a, b) => a - b);
const middle = added[Math.floor(added.length / 2)] ?? 0;
const summary = [
  '# Verification of real frameworks',
  '',
  `\`npm run bench:verify\`, ${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.versions.node}.`,
  '',
  `${right} of ${rows.length} right.${absent.length > 0 ? ` Not installed: ${absent.join(', ')}.` : ''} verify added ${middle.toFixed(2)} s at the median, ${(added.at(-1) ?? 0).toFixed(2)} s at most (hanging runs left out).`,
  '',
  '| framework | state | verdict | right | failures | passed/failed | run, s | added, s |',
  '| --- | --- | --- | --- | --- | --- | --- | --- |',
  ...rows.map(
    (row) =>
      `| ${row.framework} | ${row.state} | ${row.verdict} | ${row.right ? 'yes' : 'NO'} | ${row.failures} | ${row.counts} | ${row.seconds.toFixed(1)} | ${row.added.toFixed(2)} |`,
  ),
];
process.stdout.write(`${right} of ${rows.length} right, ${middle.toFixed(2)} s added at the median\n`);
if (asked.length === 0 && states.length === STATES.length) {
  const folder = path.join(
    import.meta.dirname,
    '../runs',
    `${new Date().toISOString().slice(0, 10)}-${hostname()
      .replace(/[^\w-].*$/, '')
      .slice(0, 20)}`,
  );
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'verify-matrix.md'), `${summary.join('\n')}\n`);
}
process.exitCode = right === rows.length ? 0 : 1;
