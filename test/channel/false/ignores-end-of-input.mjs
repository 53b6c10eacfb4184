// Stays when its input ends and when it is asked to go.

import { greet, serve } from './faithful.mjs';

process.on('SIGTERM', () => {});
process.on('SIGHUP', () => {});
greet();
serve({}, { leave: false });
setInterval(() => {}, 1000);
