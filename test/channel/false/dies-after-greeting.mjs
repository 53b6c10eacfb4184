// Greets, then dies of the first question.

import { greet, serve } from './faithful.mjs';

greet();
serve({
  status() {
    process.stderr.write('Heap exhausted, game over.\n', () => process.exit(1));
  },
});
