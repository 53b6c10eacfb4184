// Speaks a protocol of the future.

import { greet, serve } from './faithful.mjs';

greet(99);
serve();
