// Evaluated code that eats all memory costs its own answer: what was observed is there for the next, whether the sidecar lived on or another was started.
// bench/measure/hungry.ts tries all the ways there are in hungry.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CACHE, scratchRepository } from '../scratch.ts';
import { overheard } from './hungry.ts';

process.env.XDG_CACHE_HOME = CACHE;

const CODES = [
  '(let ((all nil)) (loop (push (make-array 1000000) all)))',
  '(loop collect (make-string 1000000))',
  '(make-array 100000000000)',
  // SBCL makes such a list in one piece, and without a word ends when there is no room.
  '(make-list 1000000000)',
  '(progn (dotimes (i 4) (sb-thread:make-thread (lambda () (loop collect (make-array 1000))))) (loop collect (list 1 2 3)))',
  '(progn (defvar *kept* nil) (loop (push (make-list 1000) *kept*)))',
  '(progn (lisp-implementation-type) (loop collect 1))',
];

test('code that eats all memory leaves the session unharmed', async (t) => {
  const folder = scratchRepository(t, { 'a.py': 'def handle7():\n    return 1\n' });
  for (const { code, clear, next, answer } of await overheard(folder, 512, CODES)) {
    assert.ok(clear, `${code}: ${answer}`);
    assert.ok(next, `the call after ${code}`);
  }
});
