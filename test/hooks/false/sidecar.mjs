// A sidecar with the fault that its argument names, for the hooks to meet. It opens its root as the real one does; what it does then is wrong.

import { greet, say, serve } from '../../channel/false/faithful.mjs';

/** What a hook may ask for. */
const ASKED = ['places', 'observe', 'refresh', 'summary', 'handover-facts', 'sessions'];

const each = (answer) =>
  serve(Object.fromEntries(ASKED.map((operation) => [operation, (id) => answer(id, operation)])));

const ROWS = {
  places: ['answer', 'perhaps', '', 'many', '1', 'names'],
  summary: ['summary', '', 'three', 'x'],
  'handover-facts': ['fact'],
  sessions: ['session', '', '', '', 'old', '-1'],
};

const FAULTS = {
  'dies before it greets': () => process.exit(1),
  'never greets': () => setInterval(() => {}, 1000),
  'never opens its root': () => {
    greet();
    serve({ attach: () => {} });
  },
  'never answers': () => {
    greet();
    each(() => {});
  },
  'is slow': () => {
    greet();
    each((id) => setTimeout(() => say(id, 'ok'), 700));
  },
  'answers without a row': () => {
    greet();
    each((id) => say(id, 'ok'));
  },
  'answers with rows of other fields': () => {
    greet();
    each((id, operation) => {
      if (ROWS[operation]) say(id, 'row', ...ROWS[operation]);
      say(id, 'ok');
    });
  },
  'answers somebody else': () => {
    greet();
    each((id) => say(Number(id) + 1000, 'ok'));
  },
  'says that it has a fault': () => {
    greet();
    each((id) => say(id, 'error', 'internal', 'A fault of the sidecar.'));
  },
  'is killed in mid call': () => {
    greet();
    each((id) => {
      process.stdout.write(`${id}\trow\tansw`, () => process.kill(process.pid, 'SIGKILL'));
    });
  },
};

FAULTS[process.argv[2]]();
