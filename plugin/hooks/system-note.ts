// A note in the system prompt: constant, so that prompts stay cached, and short. The tools are useful without it.

import type { HookFile } from './compose.ts';

export const NOTE =
  'This repository is indexed. repo_context answers "where is …" and "what belongs to …" with ranked files and symbols in one call: ' +
  'use it before grep and glob. lisp_eval asks the live index and the memory of this project, e.g. (callers "name"), (recall "words"); (help) lists the words.';

/** Title and summary requests have no tools. */
const WITHOUT_TOOLS = /title generator|summari[sz]/i;

/** Characters of a system prompt that say what it is for. */
const OPENING = 400;

export const systemNote: HookFile = () => ({
  async 'experimental.chat.system.transform'(_, { system }) {
    const first = system[0];
    if (!first || WITHOUT_TOOLS.test(first.slice(0, OPENING)) || system.includes(NOTE)) return;
    system.push(NOTE);
  },
});
