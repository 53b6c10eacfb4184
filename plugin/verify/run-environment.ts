// The environment of a test command: the user's, without what this program was started with, and with what ends by itself.

import { delimiter, join, relative } from 'node:path';

/**
 * What every run gets. CI forbids watch modes and prompts in most runners; the others keep a question from waiting for an answer that
 * never comes, a browser from being opened, and output from being lost in a buffer when a run is cut off.
 */
const RUN_ENVIRONMENT: Readonly<Record<string, string>> = {
  CI: 'true',
  BROWSER: 'none',
  GIT_TERMINAL_PROMPT: '0',
  COREPACK_ENABLE_DOWNLOAD_PROMPT: '0',
  NO_UPDATE_NOTIFIER: '1',
  PYTHONUNBUFFERED: '1',
  PLAYWRIGHT_HTML_OPEN: 'never',
  PW_TEST_HTML_REPORT_OPEN: 'never',
  CTEST_OUTPUT_ON_FAILURE: '1',
};

/** Of a test runner that verify itself may run under: a test command must not take itself for one of its workers. */
const NOT_INHERITED: readonly string[] = ['NODE_TEST_CONTEXT'];

/**
 * What npm tells the script that it runs of itself and of its package. Run by `npx` or a script this program would hand it on to another
 * package's tests: with `npm_config_loglevel=silent` from npx pnpm runs all tests and prints none.
 */
const OF_NPM =
  /^(npm_(package|lifecycle)_.*|npm_config_(loglevel|local_prefix|user_agent|npm_version|noproxy|yes)|npm_(command|execpath|node_execpath)|INIT_CWD)$/i;

/** Variables beside the inherited ones; undefined: not inherited. */
export function runEnvironment(
  root: string,
  from: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string | undefined> {
  const dropped = NOT_INHERITED.map((name): [string, undefined] => [name, undefined]);
  return { ...Object.fromEntries(dropped), ...withoutNpm(root, from), ...RUN_ENVIRONMENT };
}

function withoutNpm(
  root: string,
  from: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  if (from.npm_lifecycle_event === undefined) return {};
  const gone = Object.keys(from)
    .filter((name) => OF_NPM.test(name))
    .map((name): [string, undefined] => [name, undefined]);
  const prefix = from.npm_config_local_prefix;
  if (prefix === undefined || !relative(prefix, root).startsWith('..')) return Object.fromEntries(gone);
  // Programs of the package that started this one are none of the project's.
  const bin = join(prefix, 'node_modules', '.bin');
  const path = (from.PATH ?? '').split(delimiter).filter((folder) => folder !== bin);
  return { ...Object.fromEntries(gone), ...(from.PATH === undefined ? {} : { PATH: path.join(delimiter) }) };
}
