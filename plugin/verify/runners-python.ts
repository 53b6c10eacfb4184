import { join } from 'node:path';
import { fewNames, type Runner, type Selection } from './runner.ts';

/**
 * Node ids for pytest: what follows the file in `path::Class::test[param]`, whatever folder the path of
 * the name was relative to. A name of the test map is `Class.test` or `test`.
 */
function nodeIds({ files, names }: Selection): readonly string[] {
  if (!fewNames(names) || files.length === 0) return files;
  const ids: string[] = [];
  for (const name of names) {
    const parts = name.split('::');
    const owner =
      parts.length > 1
        ? files.find((file) => sameTail(file, parts[0] as string))
        : files.length === 1
          ? files[0]
          : undefined;
    if (owner === undefined) return files;
    const rest = parts.length > 1 ? parts.slice(1) : name.split('.');
    ids.push(rest[0] === '' || rest.length === 0 ? owner : [owner, ...rest].join('::'));
  }
  return ids;
}

function sameTail(left: string, right: string): boolean {
  return left === right || left.endsWith(`/${right}`) || right.endsWith(`/${left}`);
}

/** The dotted module of a file, for runners that take modules. */
function moduleOf(path: string): string {
  return path
    .replace(/(\/__init__)?\.py$/, '')
    .split('/')
    .filter((part) => part !== '.' && part !== '..')
    .join('.');
}

const PYTEST_VALUED = [
  '-k',
  '-m',
  '-c',
  '--config-file',
  '-o',
  '--override-ini',
  '-p',
  '-n',
  '--numprocesses',
  '--dist',
  '--maxfail',
  '--rootdir',
  '--confcutdir',
  '--basetemp',
  '--junitxml',
  '--junit-xml',
  '--cov',
  '--cov-report',
  '--cov-config',
  '--durations',
  '--ignore',
  '--deselect',
  '-W',
  '--log-level',
  '--tb',
  '--import-mode',
  '--timeout',
];

/** PYTEST_ADDOPTS is read before the command's own options, so those win. xunit1 is the family with file and line. */
const pytest: Runner = {
  name: 'pytest',
  ecosystem: 'python',
  programs: [['pytest'], ['py.test'], ['ptw'], ['pytest-watch']],
  valued: PYTEST_VALUED,
  watching: ['--looponfail', '-f', '--pdb', '--trace'],
  select: nodeIds,
  report: (into, argv) => {
    const file = join(into, 'pytest.xml');
    if (argv.some((word) => word.startsWith('--junit')) || /\s/.test(into)) return undefined;
    return { env: { PYTEST_ADDOPTS: `--junitxml=${file} -o junit_family=xunit1` }, files: [file] };
  },
};

/** `discover` takes no files; without it the same modules are named. */
const unittest: Runner = {
  name: 'unittest',
  ecosystem: 'python',
  programs: [['unittest', 'discover'], ['unittest']],
  valued: ['-s', '--start-directory', '-p', '--pattern', '-t', '--top-level-directory', '-k'],
  onceInstead: {},
  select: ({ files, names }) => {
    const dotted = names.filter((name) => /^[\w.]+$/.test(name) && name.includes('.'));
    return fewNames(names) && dotted.length === names.length && files.every((file) => file.includes('/') === false)
      ? dotted
      : files;
  },
};

const django: Runner = {
  name: 'unittest',
  ecosystem: 'python',
  programs: [
    ['manage.py', 'test'],
    ['django-admin', 'test'],
  ],
  valued: ['--settings', '--pattern', '-p', '-t', '--parallel', '-k', '--tag', '--exclude-tag', '-v', '--verbosity'],
  once: ['--noinput'],
  select: ({ files }) => files.map(moduleOf),
};

const trial: Runner = {
  name: 'unittest',
  ecosystem: 'python',
  programs: [['nose2'], ['trial'], ['stestr']],
  select: ({ files }) => files.map(moduleOf),
};

/** What follows `--` reaches the runner of the environment, where the project's file passes it on. */
const tox: Runner = {
  name: 'tox',
  ecosystem: 'python',
  programs: [['tox', 'run'], ['tox']],
  valued: ['-e', '-c', '-x'],
  select: ({ files }) => ['--', ...files],
};

const nox: Runner = {
  name: 'nox',
  ecosystem: 'python',
  programs: [['nox']],
  valued: ['-s', '--session', '--sessions', '-f', '-e', '-t', '-p'],
  select: ({ files }) => ['--', ...files],
};

export const PYTHON_RUNNERS: readonly Runner[] = [pytest, unittest, django, trial, tox, nox];
