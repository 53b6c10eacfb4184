import assert from 'node:assert/strict';
import test from 'node:test';
import { editsOf, relativePath } from '../../plugin/hooks/edits.ts';

test('paths are relative, inside the root, with slashes', () => {
  assert.equal(relativePath('/r', '/r/src/a.ts'), 'src/a.ts');
  assert.equal(relativePath('/r', 'src/a.ts'), 'src/a.ts');
  assert.equal(relativePath('/r', '/r/..odd/a.ts'), '..odd/a.ts', 'a name may begin with two dots');
  for (const outside of ['/r', '/r-evil/a', '../a', '/etc/passwd', '', undefined, 7])
    assert.equal(relativePath('/r', outside), undefined);
});

test('write: a new file is what it holds, a changed one its diff', () => {
  assert.deepEqual(editsOf('/r', 'write', { filePath: '/r/a.ts', content: 'one\ntwo' }, { exists: false }), [
    { path: 'a.ts', state: 'add', diff: '@@ -0,0 +1,2 @@\n+one\n+two' },
  ]);
  assert.deepEqual(editsOf('/r', 'write', { filePath: '/r/a.ts', content: 'x' }, { exists: true, diff: 'DIFF' }), [
    { path: 'a.ts', state: 'change', diff: 'DIFF' },
  ]);
});

test('edit: the diff that OpenCode made, or what was replaced', () => {
  const args = { filePath: '/r/a.ts', oldString: 'a', newString: 'b' };
  assert.equal(editsOf('/r', 'edit', args, { filediff: { patch: 'PATCH' } })[0]!.diff, 'PATCH');
  assert.equal(editsOf('/r', 'edit', args, undefined)[0]!.diff, '@@ -1 +1 @@\n-a\n+b');
});

test('apply_patch: every file of the patch', () => {
  const patchText = [
    '*** Begin Patch',
    '*** Add File: new.ts',
    '+export const x = 1',
    '*** Update File: src/old.ts',
    '@@ function parse() {',
    '-  a',
    '+  b',
    '*** Delete File: gone.ts',
    '*** End Patch',
  ].join('\n');
  assert.deepEqual(editsOf('/r', 'apply_patch', { patchText }, {}), [
    { path: 'new.ts', state: 'add', diff: '@@ -1 +1 @@\n+export const x = 1\n' },
    { path: 'src/old.ts', state: 'change', diff: '@@ -1 +1 @@ function parse() {\n-  a\n+  b\n' },
    { path: 'gone.ts', state: 'delete', diff: '@@ -1 +1 @@' },
  ]);
});

test('other tools, and arguments that are none, change nothing that is known', () => {
  for (const tool of ['bash', 'read', 'write', 'edit', 'apply_patch'])
    assert.deepEqual(editsOf('/r', tool, undefined, undefined), []);
});
