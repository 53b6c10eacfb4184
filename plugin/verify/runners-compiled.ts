import { join } from 'node:path';
import { folderOf } from './folder.ts';
import { fewNames, literal, type Runner, type Selection, stemOf } from './runner.ts';

/** The packages of the files; `-run` takes one pattern for each level of subtests, and only one test has several. */
function goSelection({ files, names }: Selection): readonly string[] {
  const packages = [...new Set(files.map((file) => (folderOf(file) === '' ? '.' : `./${folderOf(file)}`)))];
  if (!fewNames(names)) return packages;
  if (names.length === 1)
    return [
      '-run',
      (names[0] as string)
        .split('/')
        .map((part) => `^${literal(part)}$`)
        .join('/'),
      ...packages,
    ];
  const roots = [...new Set(names.map((name) => name.split('/')[0] as string))];
  return ['-run', `^(${roots.map(literal).join('|')})$`, ...packages];
}

/** The stream names every test, so an empty run and a passed one are told apart, which the plain text does not. */
const go: Runner = {
  name: 'gotest',
  ecosystem: 'go',
  programs: [['go', 'test'], ['gotestsum'], ['richgo', 'test']],
  valued: [
    '-run',
    '-bench',
    '-count',
    '-timeout',
    '-tags',
    '-p',
    '-parallel',
    '-coverprofile',
    '-covermode',
    '-coverpkg',
    '-mod',
    '-ldflags',
    '-C',
    '-cpu',
    '-o',
    '-exec',
  ],
  select: goSelection,
  everything: ['./...'],
  streams: (argv) => {
    const at = argv.findIndex((word, index) => word === 'test' && argv[index - 1] === 'go');
    if (at < 0 || argv.includes('-json') || argv.includes('-c')) return undefined;
    return [...argv.slice(0, at + 1), '-json', ...argv.slice(at + 1)];
  },
};

/** Files under `tests/` are targets of their own; a file under `src/` is a module of the library's tests. */
function cargoSelection({ files, names }: Selection): readonly string[] {
  const targets: string[] = [];
  const modules: string[] = [];
  for (const file of files) {
    const target = /(?:^|\/)tests\/([^/]+?)(?:\/.*)?$/.exec(file)?.[1];
    if (target !== undefined) targets.push('--test', target.replace(/\.rs$/, ''));
    else modules.push(stemOf(file));
  }
  const wanted = fewNames(names) ? names.filter((name) => !name.includes(' ')) : [];
  if (targets.length > 0 && modules.length === 0) return [...targets, ...(wanted.length > 0 ? ['--', ...wanted] : [])];
  if (targets.length > 0) return targets;
  const filters =
    wanted.length > 0
      ? wanted
      : modules.every((module) => !['lib', 'main', 'mod'].includes(module))
        ? modules.map((module) => `${module}::`)
        : [];
  return filters.length > 0 ? ['--', ...filters] : [];
}

const CARGO_VALUED = [
  '-p',
  '--package',
  '--test',
  '--bin',
  '--example',
  '--bench',
  '--features',
  '--target',
  '--manifest-path',
  '--profile',
  '-j',
  '--exclude',
  '-E',
];

const cargo: Runner = {
  name: 'cargo-test',
  ecosystem: 'rust',
  programs: [
    ['cargo', 'watch'],
    ['cargo', 'test'],
    ['cargo', 't'],
  ],
  valued: CARGO_VALUED,
  onceInstead: { watch: 'test' },
  watching: ['-x'],
  select: (selection) => {
    const args = cargoSelection(selection);
    return args.length > 0 ? args : undefined;
  },
};

const nextest: Runner = {
  name: 'nextest',
  ecosystem: 'rust',
  programs: [['cargo', 'nextest', 'run']],
  valued: CARGO_VALUED,
  select: ({ files, names }) => {
    const terms = fewNames(names)
      ? names.map((name) => `test(=${name})`)
      : files
          .map((file) => /(?:^|\/)tests\/([^/]+?)(?:\.rs|\/.*)$/.exec(file)?.[1])
          .map((target, at) =>
            target === undefined ? `test(/${stemOf(files[at] as string)}::/)` : `binary(=${target})`,
          );
    return ['-E', terms.join(' | ')];
  },
};

/** ctest knows tests, not files: only names can be asked for. */
const ctest: Runner = {
  name: 'ctest',
  ecosystem: 'native',
  programs: [['ctest']],
  valued: [
    '-R',
    '--tests-regex',
    '-E',
    '-L',
    '-j',
    '--parallel',
    '--test-dir',
    '-C',
    '--timeout',
    '-S',
    '--output-junit',
    '-T',
  ],
  select: ({ names }) => (fewNames(names) ? ['-R', `^(${names.map(literal).join('|')})$`] : undefined),
  report: (into, argv) => ({
    env: { CTEST_OUTPUT_ON_FAILURE: '1' },
    args: argv.includes('--output-junit') ? [] : ['--output-junit', join(into, 'ctest.xml')],
    files: [join(into, 'ctest.xml')],
  }),
};

const meson: Runner = {
  name: 'meson',
  ecosystem: 'native',
  programs: [
    ['meson', 'test'],
    ['ninja', 'test'],
  ],
  valued: ['-C', '--suite', '--logbase', '-j', '--num-processes', '--wrapper', '-t'],
  select: ({ names }) => (fewNames(names) ? names : undefined),
  written: ['**/meson-logs/testlog.junit.xml'],
};

const make: Runner = {
  name: 'make',
  ecosystem: 'native',
  programs: [['make'], ['gmake'], ['nmake'], ['just'], ['task']],
  valued: ['-C', '-f', '-j', '-I'],
  keeps: ['test', 'check', 'tests'],
};

const swift: Runner = {
  name: 'swift-test',
  ecosystem: 'swift',
  programs: [['swift', 'test']],
  valued: ['--filter', '--skip', '--package-path', '-c', '--configuration', '-Xswiftc', '--xunit-output'],
  select: ({ files, names }) => [
    '--filter',
    `(${(fewNames(names) ? names : files.map(stemOf)).map((name) => literal(name.replace(/\(\)$/, ''))).join('|')})`,
  ],
};

const cabal: Runner = {
  name: 'cabal',
  ecosystem: 'haskell',
  programs: [
    ['cabal', 'test'],
    ['cabal', 'v2-test'],
  ],
};
const stack: Runner = {
  name: 'stack',
  ecosystem: 'haskell',
  programs: [['stack', 'test']],
  watching: ['--file-watch'],
};

/** The alias `@folder/runtest` is what dune's rules hang on. */
const dune: Runner = {
  name: 'dune',
  ecosystem: 'ocaml',
  programs: [
    ['dune', 'test'],
    ['dune', 'runtest'],
  ],
  watching: ['-w', '--watch'],
  select: ({ files }) => [...new Set(files.map((file) => folderOf(file) || '.'))],
};

const zig: Runner = {
  name: 'zig',
  ecosystem: 'zig',
  programs: [
    ['zig', 'build', 'test'],
    ['zig', 'test'],
  ],
  watching: ['--watch'],
};

export const COMPILED_RUNNERS: readonly Runner[] = [
  go,
  nextest,
  cargo,
  ctest,
  meson,
  make,
  swift,
  cabal,
  stack,
  dune,
  zig,
];
