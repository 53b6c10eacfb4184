import { join } from 'node:path';
import { fewNames, literal, type Runner, titlePattern } from './runner.ts';
import { has } from './runners-javascript.ts';

/** Its HTML reporter would serve the report after a failure and never end; CI does not forbid that. */
const playwright: Runner = {
  name: 'playwright',
  ecosystem: 'javascript',
  programs: [['playwright', 'test']],
  valued: [
    '-c',
    '--config',
    '-g',
    '--grep',
    '--project',
    '--reporter',
    '-j',
    '--workers',
    '--shard',
    '--timeout',
    '--grep-invert',
    '--output',
  ],
  watching: ['--ui', '--debug', '--headed'],
  select: ({ files, names }) => [
    ...files.map(literal).map((file) => file.replaceAll('\\/', '/')),
    ...(fewNames(names) ? ['-g', titlePattern(names)] : []),
  ],
  report: (into, argv) =>
    has(argv, '--reporter')
      ? undefined
      : {
          args: ['--reporter=list,json'],
          env: {
            PLAYWRIGHT_JSON_OUTPUT_NAME: join(into, 'playwright.json'),
            PLAYWRIGHT_JSON_OUTPUT_FILE: join(into, 'playwright.json'),
            PLAYWRIGHT_HTML_OPEN: 'never',
            PW_TEST_HTML_REPORT_OPEN: 'never',
          },
          files: [join(into, 'playwright.json')],
        },
};

const jasmine: Runner = {
  name: 'jasmine',
  ecosystem: 'javascript',
  programs: [['jasmine'], ['jasmine-node'], ['jasmine-ts']],
  valued: [],
  select: ({ files, names }) => [...files, ...(fewNames(names) ? [`--filter=${titlePattern(names)}`] : [])],
};

const karma: Runner = {
  name: 'karma',
  ecosystem: 'javascript',
  programs: [
    ['karma', 'start'],
    ['ng', 'test'],
  ],
  valued: ['--browsers', '--configuration', '-c', '--include', '--project'],
  watching: ['--watch', '--watch=true', '--auto-watch'],
  once: ['--watch=false'],
  select: ({ files }) => files.map((file) => `--include=${file}`),
};

const cypress: Runner = {
  name: 'cypress',
  ecosystem: 'javascript',
  programs: [
    ['cypress', 'run'],
    ['cypress', 'open'],
  ],
  valued: [
    '--spec',
    '-s',
    '--browser',
    '-b',
    '--config',
    '-c',
    '--config-file',
    '--env',
    '-e',
    '--project',
    '-P',
    '--reporter',
    '-r',
  ],
  onceInstead: { open: 'run' },
  select: ({ files }) => ['--spec', files.join(',')],
};

const webTestRunner: Runner = {
  name: 'web-test-runner',
  ecosystem: 'javascript',
  programs: [['web-test-runner'], ['wtr']],
  valued: ['--config', '--root-dir', '--browsers'],
  watching: ['--watch'],
  select: ({ files }) => ['--files', ...files],
};

export const BROWSER_RUNNERS: readonly Runner[] = [playwright, jasmine, karma, cypress, webTestRunner];
