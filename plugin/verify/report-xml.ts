// JUnit XML in the dialects of a dozen runners, and Visual Studio's TRX. A scanner for what such reports hold, not for XML at large.

import type { Category, Failure, Reported } from './outcome-types.ts';

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(#x[0-9a-f]+|#\d+|\w+);/gi, (all, name: string) => {
    if (name[0] !== '#') return ENTITIES[name] ?? all;
    const code = name[1]?.toLowerCase() === 'x' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}

const TOKEN =
  /<!\[CDATA\[([\s\S]*?)\]\]>|<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!DOCTYPE[^>]*>|<(\/?)([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|([^<]+)/g;
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/** The elements of a document; a document cut off in the middle gives what stands before the cut. */
export function parseXml(text: string): Element {
  const top: Element = { name: '', attributes: {}, children: [], text: '' };
  const open = [top];
  for (const [, cdata, close, name, attributes = '', selfClosed, plain] of text.matchAll(TOKEN)) {
    const current = open.at(-1) as Element;
    if (cdata !== undefined) current.text += cdata;
    else if (plain !== undefined) current.text += unescaped(plain);
    else if (name === undefined) continue;
    else if (close) {
      if (open.length > 1) open.pop();
    } else {
      const pairs = [...attributes.matchAll(ATTRIBUTE)].map(([, key, one, two]): [string, string] => [
        key as string,
        unescaped(one ?? two ?? ''),
      ]);
      const element: Element = { name, attributes: Object.fromEntries(pairs), children: [], text: '' };
      current.children.push(element);
      if (!selfClosed) open.push(element);
    }
  }
  return top;
}

function* descendants(element: Element, name: string): Generator<Element> {
  for (const child of element.children) {
    if (child.name === name) yield child;
    yield* descendants(child, name);
  }
}

const childNamed = (element: Element, name: string): Element | undefined =>
  element.children.find((child) => child.name === name);

/** How each runner spells the name of a test case, as the failure parser prints it. */
const SPELLING: Readonly<Record<string, (classname: string, name: string, file: string) => string>> = {
  pytest: (classname, name, file) => pytestId(classname, name, file),
  bun: (classname, name) =>
    classname === '' || classname === name ? name : `${classname.split(' > ').join(' > ')} > ${name}`,
  deno: (_classname, name) => name,
  bats: (_classname, name) => name,
  ctest: (_classname, name) => name,
  meson: (_classname, name) => name,
  phpunit: (classname, name) => `${classname.replaceAll('.', '\\')}::${name}`,
  pest: (_classname, name) => name,
  gradle: (classname, name) => `${classname} > ${name}`,
};

/** `tests.test_a.TestX` of a file `tests/test_a.py` is `tests/test_a.py::TestX`. */
function pytestId(classname: string, name: string, file: string): string {
  if (file === '') return name === '' ? classname : `${classname}::${name}`;
  const module = file.replace(/\.py$/, '').replaceAll('/', '.');
  const classes = classname.startsWith(`${module}.`) ? classname.slice(module.length + 1).split('.') : [];
  return name === '' ? file : [file, ...classes, name].join('::');
}

/** The counts and failures of a JUnit XML report, as RUNNER writes it. */
export function readJunit(text: string, runner: string): Reported {
  const failures: Failure[] = [];
  let passed = 0;
  let skipped = 0;
  for (const testcase of descendants(parseXml(text), 'testcase')) {
    const fault = childNamed(testcase, 'failure') ?? childNamed(testcase, 'error');
    if (fault) failures.push(junitFailure(testcase, fault, runner));
    else if (
      childNamed(testcase, 'skipped') ||
      testcase.attributes.status === 'notrun' ||
      testcase.attributes.status === 'disabled'
    )
      skipped += 1;
    else passed += 1;
  }
  return { passed, failed: failures.length, skipped, failures };
}

function junitFailure(testcase: Element, fault: Element, runner: string): Failure {
  const { classname = '', name = '', file = '' } = testcase.attributes;
  const { message = '', type = '' } = fault.attributes;
  const spell = SPELLING[runner] ?? ((owner: string, title: string) => (owner === '' ? title : `${owner}.${title}`));
  const body = fault.text.trim();
  const words = `${type} ${message} ${body}`;
  return {
    test: spell(classname, name, file),
    path: file === '' ? null : file,
    line: null,
    message:
      message === ''
        ? body
        : message.includes('\n') || body === '' || body.startsWith(message)
          ? message
          : `${message}`,
    category: junitCategory(fault.name, words),
    frames: [],
  };
}

function junitCategory(element: string, words: string): Category {
  if (/timed? ?out/i.test(words.slice(0, 300))) return 'timeout';
  if (
    /collection failure|failed on setup|failed at setup|ModuleNotFoundError|ImportError|BeforeAll|beforeEach hook/i.test(
      words.slice(0, 2000),
    ) &&
    element === 'error'
  )
    return 'setup';
  if (/SyntaxError|compilation/i.test(words.slice(0, 300)) && element === 'error') return 'compile';
  return element === 'failure' || /assert/i.test(words.slice(0, 200)) ? 'assertion' : 'error';
}

/** The counts and failures of a TRX file. */
export function readTrx(text: string): Reported {
  const failures: Failure[] = [];
  let passed = 0;
  let skipped = 0;
  for (const result of descendants(parseXml(text), 'UnitTestResult')) {
    const { testName = '', outcome = '' } = result.attributes;
    if (outcome === 'Passed') passed += 1;
    else if (outcome === 'NotExecuted') skipped += 1;
    else {
      const [message] = descendants(result, 'Message');
      const [stack] = descendants(result, 'StackTrace');
      const place = /in (.+?):line (\d+)/.exec(stack?.text ?? '');
      const said = message?.text.trim() ?? '';
      failures.push({
        test: testName,
        path: place?.[1]?.replaceAll('\\', '/') ?? null,
        line: place ? Number(place[2]) : null,
        message: said,
        category: outcome === 'Timeout' ? 'timeout' : /assert/i.test(said) ? 'assertion' : 'error',
        frames: [],
      });
    }
  }
  return { passed, failed: failures.length, skipped, failures };
}
