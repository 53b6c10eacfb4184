// Projects of the test frameworks of JavaScript.

import type { Framework } from './verify-framework.ts';

const script = (test: string, more: object = {}) =>
  JSON.stringify({ name: 'sample', version: '1.0.0', private: true, scripts: { test }, ...more });
const HANG = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600000);';

/** describe/test/expect runners differ by the import alone. */
function expecting(head: string, file: string): Framework['states'] {
  return {
    passing: { [file]: `${head}test('adds', () => {\n  expect(1 + 1).toBe(2);\n});\n` },
    failing: {
      [file]: `${head}test('adds', () => {\n  expect(1 + 1).toBe(2);\n});\ntest('subtracts', () => {\n  expect(3 - 1).toBe(1);\n});\n`,
    },
    broken: { [file]: `${head}test('adds', () => {\n  expect(1 + 1).toBe(2;\n});\n` },
    empty: { 'index.js': 'exports.one = 1;\n' },
    hanging: { [file]: `${head}test('waits', () => {\n  ${HANG}\n});\n` },
  };
}

function asserting(head: string, file: string, test = 'test'): Framework['states'] {
  return {
    passing: { [file]: `${head}${test}('adds', () => {\n  assert.equal(1 + 1, 2);\n});\n` },
    failing: {
      [file]: `${head}${test}('adds', () => {\n  assert.equal(1 + 1, 2);\n});\n${test}('subtracts', () => {\n  assert.equal(3 - 1, 1);\n});\n`,
    },
    broken: {
      [file]: `${head}const missing = require('./no-such-module');\n${test}('adds', () => {\n  assert.equal(missing, 2);\n});\n`,
    },
    empty: { 'index.js': 'exports.one = 1;\n' },
    hanging: { [file]: `${head}${test}('waits', () => {\n  ${HANG}\n});\n` },
  };
}

/** Frameworks that npm brings. */
export const JAVASCRIPT: readonly Framework[] = [
  {
    name: 'jest',
    needs: ['npm'],
    npm: ['jest'],
    shared: { 'package.json': script('jest') },
    states: expecting('', 'sample.test.js'),
    broken: ['compile-error'],
    empty: ['no-tests-ran'],
    failure: { test: 'subtracts', path: 'sample.test.js', line: 5 },
  },
  {
    name: 'vitest',
    needs: ['npm'],
    npm: ['vitest@2'],
    shared: { 'package.json': script('vitest', { type: 'module' }) },
    states: expecting("import { expect, test } from 'vitest';\n", 'sample.test.js'),
    broken: ['compile-error'],
    empty: ['no-tests-ran'],
    failure: { test: 'subtracts', path: 'sample.test.js', line: 6 },
  },
  {
    name: 'mocha',
    needs: ['npm'],
    npm: ['mocha'],
    shared: { 'package.json': script('mocha') },
    states: asserting("const assert = require('node:assert');\n", 'test/sample.js', 'it'),
    broken: ['setup-error'],
    empty: ['no-tests-ran', 'setup-error'],
    failure: { test: 'subtracts', path: 'test/sample.js', line: 6 },
  },
  {
    name: 'node-test',
    needs: ['npm'],
    shared: { 'package.json': script('node --test') },
    states: asserting("const assert = require('node:assert');\nconst test = require('node:test');\n", 'sample.test.js'),
    broken: ['setup-error', 'failed'],
    empty: ['no-tests-ran'],
    failure: { test: 'subtracts', path: 'sample.test.js', line: 7 },
  },
  {
    name: 'ava',
    needs: ['npm'],
    npm: ['ava@6'],
    shared: { 'package.json': script('ava', { type: 'module' }) },
    states: {
      passing: { 'test.js': "import test from 'ava';\ntest('adds', (t) => {\n  t.is(1 + 1, 2);\n});\n" },
      failing: {
        'test.js':
          "import test from 'ava';\ntest('adds', (t) => {\n  t.is(1 + 1, 2);\n});\ntest('subtracts', (t) => {\n  t.is(3 - 1, 1);\n});\n",
      },
      broken: {
        'test.js':
          "import test from 'ava';\nimport './no-such-module.js';\ntest('adds', (t) => {\n  t.is(1 + 1, 2);\n});\n",
      },
      empty: { 'index.js': 'export const one = 1;\n' },
      hanging: { 'test.js': `import test from 'ava';\ntest('waits', (t) => {\n  ${HANG}\n  t.pass();\n});\n` },
    },
    broken: ['setup-error'],
    empty: ['no-tests-ran'],
    failure: { test: 'subtracts', path: 'test.js', line: 6 },
  },
  {
    name: 'bun',
    needs: ['npm'],
    npm: ['bun'],
    shared: { 'package.json': script('bun test') },
    states: expecting("import { expect, test } from 'bun:test';\n", 'sample.test.js'),
    broken: ['compile-error'],
    empty: ['no-tests-ran'],
    failure: { test: 'subtracts', path: 'sample.test.js', line: 6 },
  },
  {
    name: 'playwright',
    needs: ['npm', 'chromium'],
    apt: ['chromium'],
    npm: ['@playwright/test'],
    shared: {
      'package.json': script('playwright test'),
      'playwright.config.js':
        "module.exports = { timeout: 300000, use: { launchOptions: { executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] } } };\n",
    },
    states: {
      passing: {
        'sample.spec.js':
          "const { expect, test } = require('@playwright/test');\ntest('shows', async ({ page }) => {\n  await page.setContent('<p>one</p>');\n  await expect(page.locator('p')).toHaveText('one');\n});\n",
      },
      failing: {
        'sample.spec.js':
          "const { expect, test } = require('@playwright/test');\ntest('shows', async ({ page }) => {\n  await page.setContent('<p>one</p>');\n  expect(await page.locator('p').textContent()).toBe('two');\n});\n",
      },
      broken: {
        'sample.spec.js':
          "const { expect, test } = require('@playwright/test');\nrequire('./no-such-module');\ntest('shows', async () => {\n  expect(1).toBe(1);\n});\n",
      },
      empty: { 'index.js': 'exports.one = 1;\n' },
      hanging: {
        'sample.spec.js':
          "const { test } = require('@playwright/test');\ntest('waits', async () => {\n  await new Promise(() => setInterval(() => {}, 1000));\n});\n",
      },
    },
    broken: ['setup-error'],
    empty: ['no-tests-ran'],
    failure: { test: 'shows', path: 'sample.spec.js', line: 4 },
  },
];
