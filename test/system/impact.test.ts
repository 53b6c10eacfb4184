// opl impact over real repositories: descriptions, the page it draws, what earlier runs taught it, its agreement with `opl calls` and lisp_eval.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { escapeHtml } from '../../plugin/render/impact-page.ts';
import { REPOSITORY, scratchRepository } from '../scratch.ts';
import { opl, oplJson } from './opl.ts';

const SHOP = {
  'package.json': '{"type":"module","scripts":{"test":"node --test"}}\n',
  'src/retry.js': 'export function retryRequest(times) {\n  return times + 1;\n}\n',
  'src/date.js': 'export function parseDate(text) {\n  return text;\n}\n',
  'src/client.js':
    "import { retryRequest } from './retry.js';\n\nexport function fetchAll() {\n  return retryRequest(2);\n}\n",
  'test/client.test.js':
    "import assert from 'node:assert';\nimport { test } from 'node:test';\nimport { fetchAll } from '../src/client.js';\n\ntest('fetches <all> \"twice\"', () => {\n  assert.equal(fetchAll(), 3);\n});\n",
  'test/other.test.js':
    "import assert from 'node:assert';\nimport { test } from 'node:test';\nimport { parseDate } from '../src/date.js';\n\ntest('parses', () => {\n  assert.equal(parseDate('1'), '1');\n});\n",
};

test('a description means what retrieval finds for it, and the answer says that it guesses', async (t) => {
  const root = scratchRepository(t, SHOP);
  const answer = await oplJson(root, ['impact', '--target', 'try a failed request again, retry more times']);
  assert.equal(answer.roots[0].name, 'retryRequest');
  assert.equal(answer.complete, false);
  assert.match(answer.incomplete.join(' '), /guesses from a description/);
  assert.equal(answer.tests[0].path, 'test/client.test.js');
  const { status, stderr } = await opl(root, ['impact', '--target', 'zzz qqq xxx']);
  assert.equal(status, 2);
  assert.match(stderr, /Nothing in .* is called or resembles/);
});

test('--html draws the change as one page that loads nothing and takes names as text', async (t) => {
  const root = scratchRepository(t, SHOP);
  const { html, roots, tests } = await oplJson(root, ['impact', '--target', 'retryRequest', '--html', 'out.html']);
  assert.equal(html, path.join(root, 'out.html'));
  const page = readFileSync(html, 'utf8');
  assert.match(page, /^<!doctype html>/);
  assert.ok(page.includes(`<strong>${roots[0].name}</strong>`));
  assert.ok(page.includes(`<strong>${tests[0].path}</strong>`));
  assert.ok(page.includes('<strong>fetchAll</strong>'));
  assert.ok(page.includes(escapeHtml('fetches <all> "twice"')));
  assert.ok(!page.includes('<all>'));
  assert.match(page, /data-parents="r0"/);
  const outside = page.replace('http://www.w3.org/2000/svg', '');
  assert.doesNotMatch(outside, /https?:|\ssrc=|<link|@import|url\(/);
  const { status, stderr } = await opl(root, ['impact', '--target', 'retryRequest', '--html', 'no/such/folder.html']);
  assert.equal(status, 2);
  assert.match(stderr, /cannot be written/);
});

test('a test that failed when a symbol changed comes first when it changes again', async (t) => {
  const root = scratchRepository(t, SHOP);
  const file = path.join(root, 'src/date.js');
  writeFileSync(file, 'export function parseDate(text) {\n  return text + "!";\n}\n');
  for (let run = 0; run < 2; run += 1) {
    const { verdict, failures } = await oplJson(root, ['verify', '--timeout', '120']);
    assert.equal(verdict, 'failed');
    assert.ok(failures.length > 0);
  }
  writeFileSync(file, 'export function parseDate(text) {\n  return text + "?";\n}\n');
  const { tests } = await oplJson(root, ['impact']);
  assert.equal(tests[0].path, 'test/other.test.js');
  assert.match(tests[0].reason, /failed before when this changed/);
});

/** Callers asked of three sides for this many symbols. */
const SAMPLED = 100;
/** A list longer than this may be cut where it is printed. */
const MOST_CALLERS = 8;

test('the callers of an impact, of `opl calls` and of lisp_eval are the same', async (t) => {
  const { stdout } = await opl(REPOSITORY, ['calls', '--possible']);
  const calls = new Map<string, Set<string>>();
  const own = new Map<string, string>();
  for (const line of stdout.split('\n')) {
    const [callerPath, caller, , calleePath, name, calleeLine] = line.split('\t');
    if (!name) continue;
    const target = `${calleePath}:${calleeLine}`;
    own.set(target, name);
    calls.set(target, (calls.get(target) ?? new Set()).add(`${callerPath} ${caller}`));
  }
  const all = [...calls.keys()].filter((target) => (calls.get(target)?.size ?? 0) <= MOST_CALLERS).sort();
  const sample = all
    .filter((_, index) => index % Math.max(1, Math.floor(all.length / SAMPLED)) === 0)
    .slice(0, SAMPLED);
  assert.equal(sample.length, SAMPLED);
  const requests = sample.flatMap((target) => [
    JSON.stringify({ id: `i${target}`, command: 'impact', args: { target, limit: 5000 } }),
    JSON.stringify({ id: `e${target}`, command: 'eval', args: { code: `(callers "${target}")` } }),
  ]);
  const { stdout: replies } = await opl(REPOSITORY, ['batch'], `${requests.join('\n')}\n`);
  const answers = new Map(
    replies
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map((reply) => [reply.id, reply]),
  );
  const wrong: string[] = [];
  for (const target of sample) {
    const expected = calls.get(target) ?? new Set();
    const { callers, roots, error } = answers.get(`i${target}`);
    assert.ok(callers, `${target}: ${JSON.stringify(error)}`);
    const told = new Set(callers.map((row: { path: string; name: string }) => `${row.path} ${row.name}`));
    // lisp_eval writes a member with its scope, and breaks long lines
    const evaluated = [...answers.get(`e${target}`).value.matchAll(/\("([^"]*)"\s+\d+\s+"([^"]*)"\s+:(\w+)\)/gi)].map(
      ([, callerPath, label]) => `${callerPath} ${label}`,
    );
    const same = (caller: string, label: string) => {
      // a name may hold blanks: a key of an object
      const blank = caller.indexOf(' ');
      return (
        label === caller ||
        (label.startsWith(caller.slice(0, blank + 1)) && label.endsWith(`.${caller.slice(blank + 1)}`))
      );
    };
    for (const caller of expected) {
      // what was touched itself is no caller: another definition may begin on the same line
      const itself =
        caller.endsWith(` ${own.get(target)}`) ||
        roots.some((root: { path: string; name: string }) => caller === `${root.path} ${root.name}`);
      if (!itself && !told.has(caller)) wrong.push(`${target}: impact lacks ${caller}`);
      if (!evaluated.some((label) => same(caller, label))) wrong.push(`${target}: lisp_eval lacks ${caller}`);
    }
    for (const label of evaluated) {
      if (![...expected].some((caller) => same(caller, label))) wrong.push(`${target}: calls lack ${label}`);
    }
    for (const { hop, certainty, path: callerPath, name } of callers) {
      if (hop === 1 && certainty === 'exact' && !expected.has(`${callerPath} ${name}`)) {
        wrong.push(`${target}: only impact knows ${callerPath} ${name}`);
      }
    }
  }
  t.diagnostic(`${sample.length} symbols, ${wrong.length} disagreements`);
  assert.deepEqual(wrong, []);
});
