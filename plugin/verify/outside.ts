// Changes that no call graph can follow: what they break is known only when everything runs.

import { outsideRules } from '../channel/messages.generated.ts';

/** A pattern of protocol.tsv's outside rows (what it may say stands there) as a regular expression over a whole path. */
function expressionOf(pattern: string): RegExp {
  const slash = pattern.lastIndexOf('/');
  const name = (glob: string) => glob.replace(/[.+^${}()|[\]\\?]/g, '\\$&').replaceAll('*', '[^/]*');
  const folder = name(pattern.slice(0, slash + 1)).replace(/^\//, '');
  const start = pattern.startsWith('/') ? '^' : '(?:^|/)';
  return new RegExp(
    slash < 0 ? `${start}${name(pattern)}$` : `${start}${folder}(?:.*/)?${name(pattern.slice(slash + 1)) || '[^/]+'}$`,
  );
}

const RULES = outsideRules.map(({ read, why, patterns }) => ({ read, why, patterns: patterns.map(expressionOf) }));

/** The first rule that a path fits. */
const ruleOf = (path: string) => RULES.find(({ patterns }) => patterns.some((pattern) => pattern.test(path)));

export interface Outside {
  readonly path: string;
  readonly why: string;
}

/** The changed paths whose effect no graph knows, with why; empty when all of them are code or documents. */
export function outsideOf(paths: readonly string[]): readonly Outside[] {
  return paths.flatMap((path) => {
    const rule = ruleOf(path);
    return rule?.read ? [{ path, why: rule.why }] : [];
  });
}

/** Whether nothing changed but documents and settings of editors, which change no test. */
export function onlyDocuments(paths: readonly string[]): boolean {
  return paths.length > 0 && paths.every((path) => ruleOf(path)?.read === false);
}

const TEST_PATH =
  /(^|\/)(tests?|specs?|__tests__|e2e|t)\/.*\.\w+$|(^|\/)(test_[^/]+|[^/]+[._-](test|tests|spec|specs))\.\w+$|(^|\/)[^/]*(Test|Tests|Spec|IT)\.(java|kt|scala|groovy|cs|fs|php|swift)$|\.(bats|t)$/;
const NO_TEST =
  /(^|\/)(conftest\.py|__init__\.py|fixtures?|__fixtures__|helpers?|support|testdata)(\/|\.|$)|_helper\.\w+$/;

/** Whether a path is a test file by the conventions of its language: changed and new tests are run first. */
export function isTestPath(path: string): boolean {
  return TEST_PATH.test(path) && !NO_TEST.test(path) && outsideOf([path]).length === 0;
}

/** Languages whose tests stand in the sources that they test. */
const TESTS_WITHIN = /\.(rs|zig)$/;

/** Whether tests may stand in a file: a test file, or a source of a language that keeps them there. */
export function holdsTests(path: string): boolean {
  return isTestPath(path) || TESTS_WITHIN.test(path);
}
