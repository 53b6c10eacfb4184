// Sends a line over the limit.

import { greet, serve } from './faithful.mjs';

greet();
serve({
  status(id) {
    process.stdout.write(`${id}\trow\tstatus\t`);
    const more = () => process.stdout.write('a'.repeat(1_000_000), more);
    more();
  },
});
