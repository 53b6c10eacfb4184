// Monorepos under their real build tools: is the right command chosen, are the packages of the change run, what of a tool that fails, hangs
// or is cancelled, and is a process left behind?
//   tsx bench/measure/verify-workspaces.ts [TOOL…]     OPL_BENCH_SITUATIONS=passing,hanging   OPL_BENCH_SHOW=1 prints each answer

import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHost } from '../../plugin/host.ts';
import { sidecarOptions } from '../../plugin/settings.ts';
import type { VerifyAnswer } from '../../plugin/verify/answer.ts';
import { sidecarSeams } from '../../plugin/verify/sidecar-seams.ts';
import { verify } from '../../plugin/verify/verify.ts';
import type { Files } from './verify-framework.ts';
import { changeOf, SITUATIONS, type Situation, WORKSPACES, type Workspace } from './verify-workspace.ts';

const LIMIT_SECONDS = 180;
const HANG_SECONDS = 15;
/** A cancelled run has its test going by then. */
const CANCEL_MILLISECONDS = 8000;
const scratch = process.env.OPL_BENCH_SCRATCH ?? mkdtempSync(path.join(tmpdir(), 'opl-workspaces-'));
const bin = path.join(scratch, 'node_modules/.bin');
process.env.PATH = `${bin}${path.delimiter}${process.env.PATH}`;

function install(names: readonly string[]): void {
  mkdirSync(scratch, { recursive: true });
  const missing = names.filter(
    (name) => !existsSync(path.join(scratch, 'node_modules', name.replace(/(.)@[^@]+$/, '$1'))),
  );
  if (missing.length === 0) return;
  if (!existsSync(path.join(scratch, 'package.json')))
    writeFileSync(path.join(scratch, 'package.json'), '{"private":true}');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', ...missing], {
    cwd: scratch,
    stdio: 'inherit',
  });
}

function write(root: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
}

function lay(workspace: Workspace, situation: Situation): string {
  const root = mkdtempSync(path.join(scratch, `${workspace.name}-${situation}-`));
  write(root, workspace.files);
  if (workspace.npm.length > 0) symlinkSync(path.join(scratch, 'node_modules'), path.join(root, 'node_modules'));
  if (workspace.prepare) execFileSync(workspace.prepare, { shell: true, cwd: root, stdio: 'ignore' });
  for (const words of [
    ['init', '-q', '-b', 'main'],
    ['add', '-A'],
    ['-c', 'user.name=b', '-c', 'user.email=b@example.org', 'commit', '-q', '-m', 'first'],
  ])
    execFileSync('git', words, { cwd: root });
  write(root, changeOf(situation));
  if (situation === 'broken') {
    write(root, workspace.broken);
    // The change is to the code alone; that the tool is broken is older.
    execFileSync(
      'git',
      [
        '-c',
        'user.name=b',
        '-c',
        'user.email=b@example.org',
        'commit',
        '-q',
        '-m',
        'broken',
        '--',
        ...Object.keys(workspace.broken),
      ],
      { cwd: root },
    );
  }
  return root;
}

/** Processes that still run in ROOT, or were started with it in their words. */
function left(root: string): readonly string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || pid === String(process.pid)) return [];
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      const inside = readlinkSync(`/proc/${pid}/cwd`).startsWith(root) || words.includes(root);
      return inside && !words.includes('sbcl') && words !== '' ? [words.slice(0, 120)] : [];
    } catch {
      return [];
    }
  });
}

/** What is wrong with ANSWER; empty where nothing is. */
function faults(
  workspace: Workspace,
  situation: Situation,
  { verdict, ran, failures }: VerifyAnswer,
  stillThere: readonly string[],
): readonly string[] {
  const wanted: Record<Situation, readonly string[]> = {
    passing: ['passed'],
    failing: ['failed'],
    apart: ['passed'],
    documents: ['passed'],
    broken: ['setup-error', 'unparsed', 'compile-error'],
    hanging: ['timeout'],
    cancelled: ['cancelled'],
  };
  const first = ran[0]?.command ?? 'nothing';
  const log = failures.map(({ test }) => test).join(', ');
  return [
    wanted[situation].includes(verdict) ? '' : `verdict ${verdict}`,
    ['passing', 'failing'].includes(situation) && !first.includes(workspace.command) ? `command ${first}` : '',
    situation === 'failing' &&
    !failures.some(({ test, path: at }) => test?.includes('counts') && at?.startsWith('packages/'))
      ? `failures ${log || 'none'}`
      : '',
    situation === 'failing' && failures.some(({ test }) => test?.includes('other')) ? 'a failure of other' : '',
    situation === 'apart' && (ran[0]?.passed ?? 0) > 1 ? `${ran[0]?.passed} tests at first, not one` : '',
    stillThere.length > 0 ? `left: ${stillThere.join(' | ')}` : '',
  ].filter((fault) => fault !== '');
}

async function run(workspace: Workspace, situation: Situation): Promise<string> {
  const root = lay(workspace, situation);
  const host = createHost(root);
  try {
    const { indexFolder } = sidecarOptions(root, await host.settings());
    await (await host.sidecar()).call('ready', { saved: false }).catch(() => undefined);
    const cancel = new AbortController();
    if (situation === 'cancelled') setTimeout(() => cancel.abort(), CANCEL_MILLISECONDS);
    const answer = await verify({
      root,
      timeoutSeconds: situation === 'hanging' ? HANG_SECONDS : LIMIT_SECONDS,
      rerun: false,
      seams: sidecarSeams(() => host.sidecar(), indexFolder),
      spoolFolder: path.join(scratch, 'spool'),
      signal: cancel.signal,
    });
    await sleep(1000);
    const wrong = faults(workspace, situation, answer, left(root));
    if (process.env.OPL_BENCH_SHOW) process.stderr.write(`${JSON.stringify(answer, null, 1)}\n`);
    const runs = answer.ran.map(
      ({ command, passed, failed, seconds }) =>
        `\`${command}\` ${passed ?? '?'}/${failed ?? '?'} in ${seconds.toFixed(1)} s`,
    );
    return `| ${workspace.name} | ${situation} | ${answer.verdict} | ${wrong.length === 0 ? 'yes' : `NO: ${wrong.join('; ')}`} | ${runs.join('; ').replaceAll(root, '.')} |`;
  } finally {
    await host.dispose();
  }
}

const asked = process.argv.slice(2);
const situations = process.env.OPL_BENCH_SITUATIONS?.split(',') ?? SITUATIONS;
const chosen = WORKSPACES.filter(({ name }) => asked.length === 0 || asked.includes(name));
install([...new Set(chosen.flatMap(({ npm }) => npm))]);
let wrong = 0;
for (const workspace of chosen) {
  for (const situation of SITUATIONS.filter((one) => situations.includes(one))) {
    const row = await run(workspace, situation);
    if (row.includes('| NO')) wrong += 1;
    process.stdout.write(`${row}\n`);
  }
}
process.exitCode = wrong === 0 ? 0 : 1;
