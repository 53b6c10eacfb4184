// Answers with a row that the operation may not have.

import { greet, say, serve } from './faithful.mjs';

greet();
serve({
  status(id) {
    say(id, 'row', 'weather', 'fine');
    say(id, 'ok');
  },
});
