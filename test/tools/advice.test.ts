// What to type where no package manager is known: the packages that are missing, and those alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installAdvice } from '../../plugin/advice.ts';

test('advice without a package manager names what is missing, one way for each system', (t) => {
  const before = process.env.PATH;
  t.after(() => {
    process.env.PATH = before;
  });
  process.env.PATH = '/nowhere';
  const advice = installAdvice(['universal-ctags']);
  assert.match(
    advice,
    /^Install universal-ctags: apt-get install .*universal-ctags, brew install universal-ctags, or winget /,
  );
  assert.match(advice, /UniversalCtags\.Ctags\.$/);
  assert.doesNotMatch(advice, /sbcl/i);
  assert.match(installAdvice(['sbcl', 'git']), /SBCL\.SBCL && winget .* Git\.Git\.$/);
});
