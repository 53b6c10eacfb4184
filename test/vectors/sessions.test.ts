// Whole sessions of protocol/vectors/sessions played against the real sidecar, octet by octet.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { REPOSITORY, scratchFolder } from '../scratch.ts';
import { sidecarCommand } from '../sidecar-core.ts';

const FOLDER = path.join(REPOSITORY, 'protocol/vectors/sessions');

/** So long a line may take: generous, for nothing here measures speed. */
const LINE_MILLISECONDS = 30_000;

/** The sidecar promises to be gone two seconds after the end of input (protocol/README.md); the rest is for a busy machine. */
const EXIT_MILLISECONDS = 10_000;

class Lines {
  #text = Buffer.alloc(0);
  #waiting: (() => void) | undefined;

  take(chunk: Buffer): void {
    this.#text = Buffer.concat([this.#text, chunk]);
    this.#waiting?.();
  }

  async next(): Promise<string> {
    const end = Date.now() + LINE_MILLISECONDS;
    for (;;) {
      const at = this.#text.indexOf(10);
      if (at >= 0) {
        const line = this.#text.subarray(0, at).toString('utf8');
        this.#text = this.#text.subarray(at + 1);
        return line;
      }
      assert.ok(Date.now() < end, 'a line came in time');
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
        setTimeout(resolve, 200);
      });
    }
  }

  get rest(): string {
    return this.#text.toString('utf8');
  }
}

function matches(wanted: string, line: string): boolean {
  const fields = line.split('\t');
  const pattern = wanted.split('\t');
  return fields.length === pattern.length && pattern.every((field, index) => field === '*' || field === fields[index]);
}

async function play(script: string, root: string): Promise<void> {
  const { program, arguments: words } = await sidecarCommand(root);
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'ignore'] });
  const exited = once(child, 'exit');
  const lines = new Lines();
  child.stdout.on('data', (chunk) => lines.take(chunk));
  child.stdin.on('error', () => {});
  let sort = false;
  const expected: string[] = [];
  const settle = async () => {
    while (expected.length > 0) {
      const line = await lines.next();
      const index = sort ? expected.findIndex((wanted) => matches(wanted, line)) : matches(expected[0]!, line) ? 0 : -1;
      assert.ok(index >= 0, `got ${JSON.stringify(line)}, wanted ${JSON.stringify(expected)}`);
      expected.splice(index, 1);
    }
  };
  try {
    for (const step of script.split('\n')) {
      if (step.startsWith('<')) {
        expected.push(step.slice(2));
        continue;
      }
      if (step !== '') await settle();
      if (step === 'sort') sort = true;
      else if (step.startsWith('>hex ')) child.stdin.write(Buffer.from(step.slice(5), 'hex'));
      else if (step.startsWith('>repeat ')) {
        const [, hex, count] = step.split(' ');
        child.stdin.write(Buffer.from(hex!.repeat(Number(count)), 'hex'));
      } else if (step.startsWith('>')) child.stdin.write(`${step.slice(2)}\n`);
      else if (step.startsWith('pause ')) await new Promise((resolve) => setTimeout(resolve, Number(step.slice(6))));
      else if (step === 'eof') child.stdin.end();
      else if (step.startsWith('exit ')) {
        const late = setTimeout(() => child.kill('SIGKILL'), EXIT_MILLISECONDS);
        const [code] = await exited;
        clearTimeout(late);
        assert.equal(code, Number(step.slice(5)));
        assert.equal(lines.rest, '', 'nothing else was said');
      } else assert.ok(step === '' || step.startsWith('#'), `a step this test knows: ${step}`);
    }
  } finally {
    child.kill('SIGKILL');
  }
}

const names = readdirSync(FOLDER).filter((name) => name.endsWith('.session'));

test('there are sessions', () => assert.ok(names.length > 5));

for (const name of names) {
  test(`session: ${path.basename(name, '.session')}`, async (t) => {
    await play(readFileSync(path.join(FOLDER, name), 'utf8'), scratchFolder(t));
  });
}
