import { join } from 'node:path';
import { fewNames, literal, type Runner, type Selection, titlePattern } from './runner.ts';

/** Files as given, and the names behind `flag` when they are few. */
const filesAnd =
  (flag: string) =>
  (selection: Selection): readonly string[] => [
    ...selection.files,
    ...(fewNames(selection.names) ? [flag, titlePattern(selection.names)] : []),
  ];

/** Whether OPTION stands in the words, by itself or with a value. */
export const has = (argv: readonly string[], option: string): boolean =>
  argv.some((word) => word === option || word.startsWith(`${option}=`));

/**
 * `--testPathPattern` became `--testPathPatterns` in jest 30; `--runTestsByPath` is the same in all
 * versions and takes paths, not patterns.
 */
const jest: Runner = {
  name: 'jest',
  ecosystem: 'javascript',
  programs: [
    ['jest'],
    ['react-scripts', 'test'],
    ['craco', 'test'],
    ['react-app-rewired', 'test'],
    ['vue-cli-service', 'test:unit'],
    ['wp-scripts', 'test-unit-js'],
    ['tsdx', 'test'],
  ],
  valued: [
    '-c',
    '--config',
    '-t',
    '--testNamePattern',
    '--maxWorkers',
    '-w',
    '--env',
    '--selectProjects',
    '--rootDir',
    '--roots',
    '--reporters',
    '--coverageDirectory',
    '--shard',
    '--testTimeout',
    '--setupFilesAfterEnv',
    '--coverageReporters',
  ],
  watching: ['--watch', '--watchAll', '--watch=true', '--watchAll=true'],
  select: ({ files, names }) => ['--runTestsByPath', ...files, ...(fewNames(names) ? ['-t', titlePattern(names)] : [])],
  report: (into, argv) =>
    has(argv, '--json') || has(argv, '--outputFile')
      ? undefined
      : {
          args: ['--json', `--outputFile=${join(into, 'jest.json')}`, '--testLocationInResults'],
          files: [join(into, 'jest.json')],
        },
};

const vitest: Runner = {
  name: 'vitest',
  ecosystem: 'javascript',
  programs: [['vitest', 'run'], ['vitest', 'related'], ['vitest', 'watch'], ['vitest', 'dev'], ['vitest']],
  valued: [
    '-c',
    '--config',
    '-r',
    '--root',
    '--dir',
    '--project',
    '-t',
    '--testNamePattern',
    '--environment',
    '--pool',
    '--shard',
    '--exclude',
    '--workspace',
    '--mode',
  ],
  watching: ['--watch', '-w', '--watch=true', '--ui', '--ui=true', '--inspect-brk'],
  onceInstead: { watch: 'run', dev: 'run' },
  once: ['--run'],
  select: filesAnd('-t'),
  report: (into, argv) =>
    has(argv, '--reporter') || has(argv, '--outputFile')
      ? undefined
      : {
          args: ['--reporter=default', '--reporter=json', `--outputFile.json=${join(into, 'vitest.json')}`],
          files: [join(into, 'vitest.json')],
        },
};

/** Mocha has one reporter at a time: ours prints its `spec` and writes the JSON beside it. */
const mocha: Runner = {
  name: 'mocha',
  ecosystem: 'javascript',
  programs: [['mocha'], ['_mocha'], ['electron-mocha'], ['mochapack'], ['ts-mocha']],
  valued: [
    '-r',
    '--require',
    '-R',
    '--reporter',
    '-O',
    '--reporter-option',
    '--reporter-options',
    '--config',
    '--package',
    '-t',
    '--timeout',
    '-s',
    '--slow',
    '-g',
    '--grep',
    '-f',
    '--fgrep',
    '-u',
    '--ui',
    '--file',
    '--ignore',
    '--exclude',
    '--extension',
    '-j',
    '--jobs',
    '--import',
    '--loader',
    '-n',
    '--node-option',
    '-p',
    '--project',
    '--watch-files',
  ],
  watching: ['--watch', '-w', '--watch=true'],
  select: filesAnd('-g'),
  report: (into, argv) =>
    ['-R', '--reporter', '--reporter-option', '-O'].some((option) => has(argv, option))
      ? undefined
      : {
          args: [
            '--reporter',
            join(into, 'mocha-report.cjs'),
            '--reporter-option',
            `output=${join(into, 'mocha.json')}`,
          ],
          files: [join(into, 'mocha.json')],
        },
};

const ava: Runner = {
  name: 'ava',
  ecosystem: 'javascript',
  programs: [['ava']],
  valued: ['--config', '-m', '--match', '--node-arguments', '-T', '--timeout', '-c', '--concurrency'],
  watching: ['--watch', '-w'],
  select: ({ files, names }) => [
    ...files,
    ...(fewNames(names) ? names.map((name) => `--match=${name.split(' > ').at(-1) ?? name}`) : []),
  ],
};

const tap: Runner = {
  name: 'tap',
  ecosystem: 'javascript',
  programs: [['tap', 'run'], ['tap'], ['tape'], ['tap-run']],
  valued: ['-r', '--require', '-R', '--reporter', '-j', '--jobs', '-t', '--timeout', '--ignore', '-i'],
  watching: ['--watch', '-w'],
  select: ({ files }) => files,
};

/**
 * No report is asked for: options after a file are arguments of that file, NODE_OPTIONS reaches the test's own processes too, and the
 * text (TAP before node 23, then spec) names every test with its place.
 */
const nodeTest: Runner = {
  name: 'node-test',
  ecosystem: 'javascript',
  programs: [
    ['node', '--test'],
    ['tsx', '--test'],
  ],
  valued: [
    '-r',
    '--require',
    '--import',
    '--loader',
    '--experimental-loader',
    '--test-name-pattern',
    '--test-reporter',
    '--test-reporter-destination',
    '--test-concurrency',
    '--test-timeout',
    '-C',
    '--conditions',
  ],
  watching: ['--watch'],
  select: ({ files, names }) => [
    ...(fewNames(names)
      ? names.map((name) => `--test-name-pattern=^${literal(name.split(' > ').at(-1) ?? name)}$`)
      : []),
    ...files,
  ],
};

const deno: Runner = {
  name: 'deno',
  ecosystem: 'javascript',
  programs: [['deno', 'test']],
  valued: ['-c', '--config', '--filter', '--import-map', '--lock', '--reporter', '--junit-path', '--ignore'],
  watching: ['--watch'],
  select: ({ files, names }) => [...files, ...(fewNames(names) ? ['--filter', `/${titlePattern(names)}/`] : [])],
  report: (into, argv) =>
    has(argv, '--junit-path')
      ? undefined
      : {
          args: [`--junit-path=${join(into, 'deno.xml')}`],
          files: [join(into, 'deno.xml')],
        },
};

/** A bare word is a filter on paths for bun, `./path` is the file itself. */
const bun: Runner = {
  name: 'bun',
  ecosystem: 'javascript',
  programs: [['bun', 'test']],
  valued: [
    '-t',
    '--test-name-pattern',
    '--preload',
    '-r',
    '--timeout',
    '--rerun-each',
    '--reporter',
    '--reporter-outfile',
    '-c',
    '--config',
  ],
  watching: ['--watch', '--hot'],
  select: ({ files, names }) => [
    ...files.map((file) => (file.startsWith('.') ? file : `./${file}`)),
    ...(fewNames(names) ? ['-t', titlePattern(names)] : []),
  ],
  report: (into, argv) =>
    has(argv, '--reporter')
      ? undefined
      : {
          args: ['--reporter=junit', `--reporter-outfile=${join(into, 'bun.xml')}`],
          files: [join(into, 'bun.xml')],
        },
};

export const JAVASCRIPT_RUNNERS: readonly Runner[] = [jest, vitest, mocha, ava, tap, nodeTest, deno, bun];
