// The real sidecar for tests: a core from the shared cache, started as the host starts it.

import path from 'node:path';
import { prepareLaunch } from '../plugin/channel/core.ts';
import { shareSidecar } from '../plugin/channel/shared.ts';
import type { SidecarOptions } from '../plugin/channel/sidecar.ts';
import { CACHE } from './scratch.ts';

export const SBCL = process.env.OPL_SBCL ?? 'sbcl';

const CORE = {
  sbcl: SBCL,
  cacheFolder: path.join(CACHE, 'opencode-plugin-lisp'),
  heapMegabytes: 1024,
  stackMegabytes: 8,
};

// Compiled files are shared as well, whatever cache a test uses for its core.
process.env.OPL_FASL_DIR ??= path.join(CORE.cacheFolder, 'fasl');

/** Program and arguments of a real sidecar for ROOT. */
export async function sidecarCommand(root: string): Promise<{ program: string; arguments: string[] }> {
  const launch = await prepareLaunch(CORE);
  return { program: SBCL, arguments: [...launch.arguments, '--root', root] };
}

/** Options of a real sidecar for ROOT that keeps its index in INDEX-FOLDER. */
export function realOptions(root: string, indexFolder: string): SidecarOptions {
  return { ...CORE, root, ctags: process.env.OPL_CTAGS ?? 'ctags', excludes: [], indexFolder, log: () => {} };
}

export { shareSidecar };
