// Answers with a row whose fields are not of their types.

import { greet, say, serve } from './faithful.mjs';

greet();
serve({
  search(id) {
    say(id, 'row', 'answer', 'perhaps', '', 'many', '1', 'names');
    say(id, 'ok');
  },
  symbols(id) {
    say(id, 'row', 'tag', '../outside', 'f', 'function', '1', '', '');
    say(id, 'ok');
  },
});
