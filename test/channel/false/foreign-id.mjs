// Answers a question that nobody asked.

import { greet, say, serve } from './faithful.mjs';

greet();
serve({
  status() {
    say('12345', 'ok');
  },
});
