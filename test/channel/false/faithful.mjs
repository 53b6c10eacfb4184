// A sidecar that keeps the contract, for the false ones beside it to break in one place each.

import { createInterface } from 'node:readline';

export const say = (...fields) => process.stdout.write(`${fields.join('\t')}\n`);

export function greet(protocol = 1) {
  say('hello', protocol, '0.0.0', 'none', process.pid);
}

/** Answers each request with answers[operation](id, ...arguments), or with an empty reply. */
export function serve(answers = {}, { leave = true } = {}) {
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const [id, operation, ...fields] = line.split('\t');
    if (id === 'cancel') return;
    if (answers[operation]) answers[operation](id, ...fields);
    else say(id, 'ok');
  });
  lines.on('close', () => {
    if (leave) process.exit(0);
  });
}
