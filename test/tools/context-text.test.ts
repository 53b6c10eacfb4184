// The text of repo_context: what a line is spent on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderContext } from '../../plugin/render/context.ts';

const answer = { complete: true, total: 40, indexed: 600, searched: '' };
const file = (path: string, score: number) => ({ path, score, role: 'match', hop: 0, reasons: [] });

const text = (files: ReturnType<typeof file>[]) =>
  renderContext({ answer: [answer as never], 'ranked-file': files as never, symbol: [], related: [], channel: [] });

test('files for which next to nothing speaks take no lines, and are counted', () => {
  const weak = Array.from({ length: 32 }, (_, place) => file(`lib/weak-${place}.js`, 0.001));
  const shown = text([file('lib/git.js', 7.4), file('lib/install.js', 2.9), ...weak]);
  assert.match(shown, /lib\/git\.js/);
  assert.match(shown, /lib\/install\.js/);
  assert.doesNotMatch(shown, /weak/);
  assert.match(shown, /… 32 more files/);
});

test('the best file is shown however little speaks for it', () => {
  assert.match(text([file('lib/only.js', 0.001)]), /lib\/only\.js/);
});
