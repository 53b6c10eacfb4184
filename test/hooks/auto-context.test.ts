import assert from 'node:assert/strict';
import test from 'node:test';
import type { Reply } from '../../plugin/channel/sidecar.ts';
import { contextList, isTrivial } from '../../plugin/hooks/likely-places.ts';
import { nextPartID } from '../../plugin/hooks/part-id.ts';

type Files = [path: string, score: number, role?: string][];

function reply(files: Files, complete = true): Reply<'places'> {
  return {
    answer: [{ complete, reason: null, total: files.length, indexed: 10, searched: '' }],
    'ranked-file': files.map(([path, score, role = 'match']) => ({ path, score, role, hop: 0, reasons: [] })),
    symbol: files.map(([path]) => ({ path, name: `in_${path}`, line: 7 })),
  } as unknown as Reply<'places'>;
}

test('turns that ask for nothing', () => {
  for (const text of [
    'yes',
    'continue',
    'Ok, go on.',
    'thanks!',
    'please continue',
    'fix it',
    'ja',
    'ja bitte, mach weiter',
    'ok thanks',
    'oui, continue',
    '',
  ])
    assert.ok(isTrivial(text), text);
  for (const text of ['fix the parser please', 'where are routes matched?', 'why does it crash'])
    assert.ok(!isTrivial(text), text);
});

test('the list names files and symbols, within its budget', () => {
  const { text, paths } = contextList(
    reply([
      ['a.ts', 10],
      ['b.ts', 5, 'caller'],
      ['c.ts', 4],
    ]),
    new Set(),
  )!;
  assert.match(text, /^<likely-places[^>]*>\n- a\.ts: in_a\.ts:7\n- b\.ts \(caller\): in_b\.ts:7\n- c\.ts/);
  assert.deepEqual(paths, ['a.ts', 'b.ts', 'c.ts']);
  const many = contextList(
    reply(Array.from({ length: 40 }, (_, i) => [`${'long/'.repeat(30)}${i}.ts`, 100 - i])),
    new Set(),
  )!;
  assert.ok(many.text.length < 1300, String(many.text.length));
});

test('nothing when the index is not sure, and nothing twice', () => {
  assert.equal(contextList(reply([]), new Set()), undefined);
  assert.equal(contextList(reply([['a.ts', 10]], false), new Set()), undefined);
  assert.equal(
    contextList(
      reply([
        ['a.ts', 10, 'lexical'],
        ['b.ts', 4],
      ]),
      new Set(),
    ),
    undefined,
  );
  assert.equal(
    contextList(
      reply([
        ['a.ts', 10],
        ['b.ts', 10],
        ['c.ts', 10],
      ]),
      new Set(),
    ),
    undefined,
    'flat scores',
  );
  assert.equal(contextList(reply([['a.ts', 10]]), new Set(['a.ts'])), undefined);
  assert.deepEqual(
    contextList(
      reply([
        ['a.ts', 10],
        ['b.ts', 4],
      ]),
      new Set(['a.ts']),
    )!.paths,
    ['b.ts'],
  );
});

test('an added part sorts after the last and before later ones', () => {
  const last = 'prt_22d41170a00161i7qng1Vh9ULk';
  const next = nextPartID(last);
  assert.match(next, /^prt_[0-9a-f]{12}[0-9A-Za-z]{14}$/);
  assert.ok(next > last);
  assert.ok(nextPartID(next) > next);
  assert.match(nextPartID(undefined), /^prt_[0-9a-f]{12}[0-9A-Za-z]{14}$/);
});
