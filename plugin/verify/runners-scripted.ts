import { join } from 'node:path';
import { fewNames, literal, type Runner, type Selection, stemOf } from './runner.ts';

/** SPEC_OPTS outranks the command line and `.rspec`; the text formatter is named again beside the JSON. */
const rspec: Runner = {
  name: 'rspec',
  ecosystem: 'ruby',
  programs: [['rspec'], ['spring', 'rspec'], ['guard']],
  valued: [
    '-e',
    '--example',
    '-f',
    '--format',
    '-o',
    '--out',
    '-r',
    '--require',
    '-t',
    '--tag',
    '-I',
    '--seed',
    '--order',
    '-P',
    '--pattern',
    '-O',
  ],
  select: ({ files, names }) => [...files, ...(fewNames(names) ? names.flatMap((name) => ['-e', name]) : [])],
  report: (into, argv) => {
    const file = join(into, 'rspec.json');
    if (argv.some((word) => ['-f', '--format'].includes(word) || word.startsWith('--format=')) || /\s/.test(into))
      return undefined;
    return { env: { SPEC_OPTS: `--format progress --format json --out ${file}` }, files: [file] };
  },
};

/** `Class#test_x` of a failure is `test_x` to `-n`. */
function methodPattern(names: readonly string[]): string {
  const methods = names.map((name) => literal(name.split('#').at(-1) ?? name));
  return methods.length === 1 ? `/^${methods[0]}$/` : `/^(${methods.join('|')})$/`;
}

const rails: Runner = {
  name: 'minitest',
  ecosystem: 'ruby',
  programs: [['rails', 'test']],
  valued: ['-n', '--name', '-e', '-s', '--seed'],
  select: ({ files, names }) => [...files, ...(fewNames(names) ? ['-n', methodPattern(names)] : [])],
};

/** Rake's test task reads the file from TEST (a glob) and minitest's own options from TESTOPTS. */
const rake: Runner = {
  name: 'minitest',
  ecosystem: 'ruby',
  programs: [['rake']],
  keeps: ['test', 'spec'],
  select: ({ files, names }) => [
    `TEST=${files.length === 1 ? files[0] : `{${files.join(',')}}`}`,
    ...(fewNames(names) ? [`TESTOPTS=--name=${methodPattern(names)}`] : []),
  ],
};

/** One file at a time is run by ruby itself; several are required one after another. */
const ruby: Runner = {
  name: 'minitest',
  ecosystem: 'ruby',
  programs: [['ruby']],
  valued: ['-I', '-r', '-e'],
  select: ({ files, names }) =>
    files.length === 1
      ? [files[0] as string, ...(fewNames(names) ? ['-n', methodPattern(names)] : [])]
      : ['-e', 'ARGV.each { |file| require File.expand_path(file) }', ...files],
};

/** PHPUnit takes one path before version 11.3; several files are a filter of their classes. */
function phpunitSelection({ files, names }: Selection): readonly string[] {
  if (fewNames(names))
    return [
      '--filter',
      `/::(${names.map((name) => literal((name.split('::').at(-1) ?? name).replace(/ with data set.*$/, ''))).join('|')})( |$)/`,
    ];
  if (files.length === 1) return files;
  return ['--filter', `/(^|\\\\)(${files.map(stemOf).map(literal).join('|')})::/`];
}

const phpunitReport =
  (file: string): NonNullable<Runner['report']> =>
  (into, argv) =>
    argv.some((word) => word.startsWith('--log-junit'))
      ? undefined
      : { args: ['--log-junit', join(into, file)], files: [join(into, file)] };

const phpunit: Runner = {
  name: 'phpunit',
  ecosystem: 'php',
  programs: [['phpunit'], ['simple-phpunit'], ['artisan', 'test'], ['paratest'], ['phpunit-watcher', 'watch']],
  valued: [
    '-c',
    '--configuration',
    '--filter',
    '--testsuite',
    '--group',
    '--exclude-group',
    '--bootstrap',
    '--log-junit',
    '--coverage-html',
    '--coverage-clover',
    '-d',
    '--printer',
  ],
  select: phpunitSelection,
  report: phpunitReport('phpunit.xml'),
};

const pest: Runner = {
  name: 'pest',
  ecosystem: 'php',
  programs: [['pest']],
  valued: phpunit.valued ?? [],
  watching: ['--watch'],
  select: ({ files, names }) => [...files, ...(fewNames(names) ? ['--filter', names.map(literal).join('|')] : [])],
  report: phpunitReport('pest.xml'),
};

/** `--report-formatter` writes a report beside the text since bats 1.5. */
const bats: Runner = {
  name: 'bats',
  ecosystem: 'shell',
  programs: [['bats']],
  valued: [
    '-f',
    '--filter',
    '-j',
    '--jobs',
    '-F',
    '--formatter',
    '-o',
    '--output',
    '--report-formatter',
    '--filter-tags',
    '--filter-status',
  ],
  select: ({ files, names }) => [...files, ...(fewNames(names) ? ['-f', `^(${names.map(literal).join('|')})$`] : [])],
  report: (into, argv) =>
    argv.includes('--report-formatter') || argv.includes('-o') || argv.includes('--output')
      ? undefined
      : { args: ['--report-formatter', 'junit', '--output', into], files: [join(into, 'report.xml')] },
};

const shellspec: Runner = {
  name: 'shellspec',
  ecosystem: 'shell',
  programs: [['shellspec']],
  select: ({ files }) => files,
};

const prove: Runner = {
  name: 'prove',
  ecosystem: 'perl',
  programs: [['prove']],
  valued: ['-I', '-j', '--jobs', '-e', '--exec', '--formatter', '-P', '--harness', '--archive', '-a'],
  select: ({ files }) => files,
};

const mix: Runner = {
  name: 'exunit',
  ecosystem: 'elixir',
  programs: [
    ['mix', 'test.watch'],
    ['mix', 'test'],
  ],
  valued: ['--only', '--exclude', '--include', '--seed', '--max-failures', '--partitions'],
  onceInstead: { 'test.watch': 'test' },
  select: ({ files }) => files,
};

const eunit: Runner = {
  name: 'eunit',
  ecosystem: 'erlang',
  programs: [
    ['rebar3', 'eunit'],
    ['rebar3', 'ct'],
  ],
  select: ({ files }) => [`--module=${files.map((file) => stemOf(file).replace(/_tests$/, '')).join(',')}`],
};

const dartReport: NonNullable<Runner['report']> = (into, argv) =>
  argv.some((word) => word.startsWith('--file-reporter'))
    ? undefined
    : { args: [`--file-reporter=json:${join(into, 'dart.json')}`], files: [join(into, 'dart.json')] };
const dartSelect: NonNullable<Runner['select']> = ({ files, names }) => [
  ...files,
  ...(fewNames(names) ? ['--name', `(${names.map(literal).join('|')})$`] : []),
];

const flutter: Runner = {
  name: 'flutter',
  ecosystem: 'dart',
  programs: [['flutter', 'test']],
  valued: ['--name', '--plain-name', '-j', '--dart-define', '--reporter', '-r'],
  select: dartSelect,
  report: dartReport,
};
const dart: Runner = {
  name: 'dart',
  ecosystem: 'dart',
  programs: [
    ['dart', 'test'],
    ['dart', 'run', 'test'],
  ],
  valued: ['-n', '--name', '-N', '--plain-name', '-p', '--platform', '-r', '--reporter', '-j'],
  select: dartSelect,
  report: dartReport,
};

const gleam: Runner = { name: 'gleam', ecosystem: 'gleam', programs: [['gleam', 'test']] };
const busted: Runner = { name: 'busted', ecosystem: 'lua', programs: [['busted']], select: ({ files }) => files };

export const SCRIPTED_RUNNERS: readonly Runner[] = [
  rspec,
  rails,
  rake,
  ruby,
  phpunit,
  pest,
  bats,
  shellspec,
  prove,
  mix,
  eunit,
  flutter,
  dart,
  gleam,
  busted,
];
