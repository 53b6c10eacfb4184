// The golden vectors of protocol/vectors on the host's side; test/sidecar/vectors-test.lisp is the other half.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { decodeOctets, encodeLine, FieldError } from '../../plugin/channel/fields.ts';
import { REPOSITORY } from '../scratch.ts';

function rows(name: string): string[][] {
  const text = readFileSync(path.join(REPOSITORY, 'protocol/vectors', name), 'utf8');
  const lines = text.split('\n').filter((line) => line && !line.startsWith('#'));
  assert.ok(lines.length > 10, `${name} has vectors`);
  return lines.map((line) => line.split('\t'));
}

for (const [name, direction, line, fields] of rows('fields.tsv')) {
  test(`fields: ${name}`, () => {
    const octets = Buffer.from(line!, 'hex');
    const texts = fields!.split(',').map((field) => Buffer.from(field, 'hex').toString('utf8'));
    assert.deepEqual(decodeOctets(octets), texts);
    if (direction === 'both') assert.equal(Buffer.from(encodeLine(texts)).toString('hex'), line);
  });
}

for (const [name, line] of rows('invalid.tsv')) {
  test(`invalid: ${name}`, () => {
    assert.throws(() => decodeOctets(Buffer.from(line!, 'hex')), FieldError);
  });
}

test('a lone surrogate is sent as a replacement character', () => {
  assert.equal(encodeLine(['a\ud800b', '😀']), 'a\ufffdb\t😀');
});
