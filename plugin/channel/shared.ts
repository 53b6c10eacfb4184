// One sidecar a root, whatever the number of sessions in this process.

import { realpathSync } from 'node:fs';
import { Sidecar, type SidecarOptions } from './sidecar.ts';

interface Entry {
  sidecar: Sidecar;
  users: number;
}

/** One registry for all copies of this module in a process: a host may load the plugin more than once. */
const REGISTRY = Symbol.for('opencode-plugin-lisp.sidecars');

function registry(): Map<string, Entry> {
  const holder = globalThis as { [REGISTRY]?: Map<string, Entry> };
  holder[REGISTRY] ??= new Map();
  return holder[REGISTRY];
}

/** The sidecar of OPTIONS.root, shared by all who ask for this root; each calls release once. The last one ends the process. */
export function shareSidecar(options: SidecarOptions): { sidecar: Sidecar; release(): Promise<void> } {
  const root = realpathSync(options.root);
  const entries = registry();
  const entry = entries.get(root) ?? { sidecar: new Sidecar({ ...options, root }), users: 0 };
  entries.set(root, entry);
  entry.users += 1;
  let released = false;
  return {
    sidecar: entry.sidecar,
    async release() {
      if (released) return;
      released = true;
      entry.users -= 1;
      if (entry.users > 0) return;
      entries.delete(root);
      await entry.sidecar.stop();
    },
  };
}
