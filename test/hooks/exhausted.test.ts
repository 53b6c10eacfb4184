// Evaluated code that eats all memory costs its own answer: what was observed is there for the next, whether the sidecar lived on or another was started.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { journalOf } from '../../plugin/hooks/journal.ts';
import { createHost } from '../../plugin/host.ts';
import { CACHE, scratchRepository } from '../scratch.ts';

process.env.XDG_CACHE_HOME = CACHE;

const HUNGRY = [
  '(let ((all nil)) (loop (push (make-array 1000000) all)))',
  '(loop collect (make-string 1000000))',
  '(make-array 100000000000)',
];

test('code that eats all memory leaves the session unharmed', async (t) => {
  const folder = scratchRepository(t, { 'a.py': 'def one():\n    return 1\n' });
  const host = createHost(folder, { heapMegabytes: 512 }, () => {});
  t.after(() => host.dispose());
  journalOf(host).record('s', { kind: 'request', text: 'keep pelicans in mind' });
  await journalOf(host).flush(60_000);
  const sidecar = await host.sidecar();
  for (const code of HUNGRY) {
    const failed = await sidecar.call('evaluate', { code, deadline: 30 }).then(
      () => undefined,
      (error) => error,
    );
    assert.ok(failed, code);
    assert.match(failed.message, /held more than|memory|heap|exhausted|ended/i, code);
    const { value } = await sidecar.call('evaluate', { code: '(length (recall "pelicans"))', deadline: 30 });
    assert.equal(value[0]?.value, '1', code);
  }
});
