// Dies in the middle of a row.

import { greet, serve } from './faithful.mjs';

greet();
serve({
  evaluate(id) {
    process.stdout.write(`${id}\trow\tvalue\t12`, () => process.exit(0));
  },
});
