// Takes questions and keeps them.

import { greet, say, serve } from './faithful.mjs';

const kept = [];
greet();
serve({
  evaluate: (id) => kept.push(id),
  // The late answers of what was given up, then that of the question itself.
  status(id) {
    for (const one of kept) {
      say(one, 'row', 'value', '1', 'integer');
      say(one, 'ok');
    }
    say(id, 'row', 'status', 'empty', '', '0', '0', '0', '0', '');
    say(id, 'ok');
  },
});
