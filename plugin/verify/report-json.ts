// Reports in JSON: jest's (vitest and our mocha reporter write the same), playwright's, rspec's, and the events of dart and flutter.

import { isRecord } from './folder.ts';
import type { Category, Failure, Reported } from './outcome-types.ts';

type Json = Record<string, unknown>;

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const number = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null);

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character starts a colour
const COLOURS = /\u001b\[[0-9;]*m/g;

function plain(value: unknown): string {
  return text(value).replace(COLOURS, '').trim();
}

function categoryOf(message: string): Category {
  const start = message.slice(0, 400);
  if (/timed? ?out|timeout of|exceeded timeout/i.test(start)) return 'timeout';
  if (/SyntaxError|Transform failed|error TS\d/.test(start)) return 'compile';
  if (/Cannot find (module|package)|ERR_MODULE_NOT_FOUND|Failed to (load|resolve)/.test(start)) return 'setup';
  if (/AssertionError|expect\(|Expectation|expected /i.test(start)) return 'assertion';
  return /^\s*\w*Error\b/.test(start) ? 'error' : 'assertion';
}

/** The place of the deepest frame of a stack that stands outside node_modules and the runtime. */
export function placeOf(stack: string): { readonly path: string; readonly line: number } | undefined {
  for (const found of stack.matchAll(/(?:\(|at |^\s*)((?:file:\/\/)?[^\s()]+?\.[cm]?[jt]sx?):(\d+)(?::\d+)?\)?/gm)) {
    const path = (found[1] as string).replace(/^file:\/\//, '').replaceAll('\\', '/');
    if (!/node_modules|^node:|internal\//.test(path)) return { path, line: Number(found[2]) };
  }
  return undefined;
}

/** jest's `--json`; vitest's json reporter keeps its shape. */
export function readJest(report: Json): Reported {
  const failures: Failure[] = [];
  let passed = 0;
  let failed = 0;
  let skipped = 0;
  for (const file of list(report.testResults)) {
    const path = text(file.name) || null;
    const results = list(file.assertionResults);
    for (const result of results) {
      const status = text(result.status);
      if (status === 'passed') passed += 1;
      else if (status === 'failed') {
        failed += 1;
        failures.push(jestFailure(result, path));
      } else if (status !== 'todo') skipped += 1;
    }
    const said = plain(file.message);
    if (text(file.status) === 'failed' && !results.some(({ status }) => status === 'failed')) {
      const category = categoryOf(said);
      failures.push({
        test: null,
        path,
        line: null,
        message: said,
        category: category === 'compile' ? 'compile' : 'setup',
        frames: [],
      });
    }
  }
  return { passed, failed, skipped, failures };
}

function jestFailure(result: Json, path: string | null): Failure {
  const message = plain(Array.isArray(result.failureMessages) ? result.failureMessages[0] : '');
  const titles = Array.isArray(result.ancestorTitles)
    ? result.ancestorTitles.map(text).filter((title) => title !== '')
    : [];
  const place = placeOf(message);
  const location = isRecord(result.location) ? number(result.location.line) : null;
  return {
    test: [...titles, text(result.title)].join(' > '),
    path: place?.path ?? path,
    line: place?.line ?? location,
    message: message.replace(/\n\s+at [\s\S]*$/, ''),
    category: categoryOf(message),
    frames: [],
  };
}

export function readPlaywright(report: Json): Reported {
  const failures: Failure[] = [];
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const walk = (suite: Json, titles: readonly string[]): void => {
    for (const inner of list(suite.suites)) walk(inner, [...titles, text(inner.title)]);
    for (const spec of list(suite.specs)) {
      for (const one of list(spec.tests)) {
        const status = text(one.status);
        if (status === 'skipped') counts.skipped += 1;
        else if (status === 'expected' || status === 'flaky') counts.passed += 1;
        else {
          counts.failed += 1;
          failures.push(playwrightFailure(spec, one, titles));
        }
      }
    }
  };
  // The outermost suites are files, which are no part of a name.
  for (const file of list(report.suites)) walk(file, []);
  for (const error of list(report.errors)) {
    const message = plain(error.message) || plain(error.stack);
    if (failures.length > 0 && !/SyntaxError|Cannot find/.test(message)) continue;
    if (/^Error: No tests found/.test(message)) continue;
    const location = isRecord(error.location) ? error.location : {};
    failures.push({
      test: null,
      path: text(location.file) || null,
      line: number(location.line),
      message,
      category: /SyntaxError/.test(message) ? 'compile' : 'setup',
      frames: [],
    });
  }
  return { ...counts, failures };
}

function playwrightFailure(spec: Json, one: Json, titles: readonly string[]): Failure {
  const result = list(one.results).at(-1) ?? {};
  const error = isRecord(result.error) ? result.error : {};
  const message = plain(error.message);
  const location = isRecord(error.location) ? error.location : {};
  return {
    test: [...titles, text(spec.title)].join(' > '),
    path: text(location.file) || text(spec.file) || null,
    line: number(location.line) ?? number(spec.line),
    message,
    category: text(result.status) === 'timedOut' || /Test timeout/.test(message) ? 'timeout' : categoryOf(message),
    frames: [],
  };
}

export function readRspec(report: Json): Reported {
  const failures: Failure[] = [];
  let passed = 0;
  let skipped = 0;
  for (const example of list(report.examples)) {
    if (example.status === 'passed') passed += 1;
    else if (example.status === 'pending') skipped += 1;
    else failures.push(rspecFailure(example));
  }
  const summary = isRecord(report.summary) ? report.summary : {};
  const outside = number(summary.errors_outside_of_examples_count) ?? 0;
  if (outside > 0) {
    const message = (Array.isArray(report.messages) ? report.messages.map(plain) : [])
      .filter((said) => /error occurred/i.test(said))
      .join('\n');
    failures.push({
      test: null,
      path: /# (\.\/[^:\s]+):(\d+)/.exec(message)?.[1]?.slice(2) ?? null,
      line: null,
      message,
      category: /SyntaxError|syntax error/.test(message) ? 'compile' : 'setup',
      frames: [],
    });
  }
  return { passed, failed: failures.length - (outside > 0 ? 1 : 0), skipped, failures };
}

function rspecFailure(example: Json): Failure {
  const exception = isRecord(example.exception) ? example.exception : {};
  const kind = text(exception.class);
  const file = text(example.file_path).replace(/^\.\//, '');
  const stack = Array.isArray(exception.backtrace) ? exception.backtrace.map(text) : [];
  const own = stack
    .map((line) => /^(.+?):(\d+)/.exec(line))
    .find((found) => found && !/\/(gems|ruby|lib\/ruby|bin)\//.test(found[1] as string));
  return {
    test: text(example.full_description),
    path: own?.[1]?.replace(/^\.\//, '') ?? file,
    line: own ? Number(own[2]) : number(example.line_number),
    message: plain(exception.message),
    category: /Expectation/.test(kind) ? 'assertion' : /Timeout/.test(kind) ? 'timeout' : 'error',
    frames: [],
  };
}

/** One event a line, of `--file-reporter=json:`. */
export function readDartEvents(report: string): Reported {
  const names = new Map<number, { readonly name: string; readonly url: string | null; readonly line: number | null }>();
  const errors = new Map<number, string>();
  const failures: Failure[] = [];
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const line of report.split('\n')) {
    let event: unknown;
    try {
      event = JSON.parse(line);
    } catch {
      continue;
    }
    if (!isRecord(event)) continue;
    const test = isRecord(event.test) ? event.test : {};
    const id = number(event.testID) ?? number(test.id) ?? -1;
    if (event.type === 'testStart')
      names.set(id, { name: text(test.name), url: text(test.url) || null, line: number(test.line) });
    else if (event.type === 'error') errors.set(id, `${errors.get(id) ?? ''}${plain(event.error)}`);
    else if (event.type === 'testDone' && event.hidden !== true) {
      if (event.skipped === true) counts.skipped += 1;
      else if (event.result === 'success') counts.passed += 1;
      else {
        counts.failed += 1;
        const { name = '', url = null, line: at = null } = names.get(id) ?? {};
        failures.push({
          test: name,
          path: url?.replace(/^file:\/\//, '') ?? null,
          line: at,
          message: errors.get(id) ?? '',
          category: event.result === 'failure' ? 'assertion' : 'error',
          frames: [],
        });
      }
    }
  }
  return { ...counts, failures };
}
