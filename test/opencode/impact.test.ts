// change_impact in the real OpenCode binary: what was touched, who calls it, which tests tell and what runs them reach the model.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeProject, runOpenCode } from './opencode.ts';
import { type Step, startModel } from './scripted-model.ts';

const FILES = {
  'package.json': JSON.stringify({ name: 'sample', type: 'module', scripts: { test: 'node --test test/' } }),
  'src/price.js': 'export function priceOf(item) {\n  return item.price;\n}\n',
  'src/cart.js':
    "import { priceOf } from './price.js';\n\nexport function total(items) {\n  return items.reduce((sum, item) => sum + priceOf(item), 0);\n}\n",
  'test/cart.test.js':
    "import assert from 'node:assert';\nimport { test } from 'node:test';\nimport { total } from '../src/cart.js';\n\ntest('adds prices', () => {\n  assert.equal(total([{ price: 2 }]), 2);\n});\n",
  'test/other.test.js': "import { test } from 'node:test';\n\ntest('nothing', () => {});\n",
};

const asks = (args: object): Step => ({ tools: [{ name: 'change_impact', args }] });
const DIFF =
  'diff --git a/src/price.js b/src/price.js\n--- a/src/price.js\n+++ b/src/price.js\n@@ -1,3 +1,3 @@\n export function priceOf(item) {\n-  return item.price;\n+  return item.price + 1;\n }\n';

test('roots, callers, tests and the command of a change reach the model, for every way to ask', async (t) => {
  const model = await startModel([
    asks({}),
    asks({ diff: DIFF }),
    {
      tools: [
        { name: 'edit', args: { filePath: 'src/price.js', oldString: 'item.price;', newString: 'item.price * 2;' } },
      ],
    },
    asks({}),
    asks({ target: 'priceOf' }),
    asks({ diff: 'this is no diff' }),
    { text: 'DONE' },
  ]);
  t.after(() => model.close());
  const project = makeProject(t, { modelUrl: model.url, files: FILES });
  const { code, stdout, stderr } = await runOpenCode(project, 'go');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /DONE/);
  const [before, ofDiff, , ofTree, ofName, noDiff] = model.toolAnswers();
  assert.match(before ?? '', /^Looked at [^\n]*the working tree against HEAD/);
  assert.doesNotMatch(before ?? '', /src\/price\.js/, 'nothing of it has changed yet');
  for (const answer of [ofDiff, ofTree, ofName]) {
    assert.match(answer ?? '', /^Looked at /);
    assert.match(answer ?? '', /Touched:\n(?: .*\n)* {2}src\/price\.js:1-3 {2}function priceOf/);
    assert.match(answer ?? '', /Tests that would tell[^\n]*\n {2}test\/cart\.test\.js \[adds prices\]/);
    assert.match(answer ?? '', /Run:\n {2}\S.*test\/cart\.test\.js/);
    assert.match(answer ?? '', /Callers: 1 in the program, \d+ in tests:\n {2}src\/cart\.js:4 {2}total \(exact\)/);
    assert.ok((answer ?? '').length <= 4096, 'four kilobytes at most');
  }
  assert.match(ofTree ?? '', /^Looked at [^\n]*the working tree against HEAD/);
  assert.match(noDiff ?? '', /diff/);
  assert.doesNotMatch(noDiff ?? '', /Nothing changed/);
});
