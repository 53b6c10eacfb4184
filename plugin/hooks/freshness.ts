// An edit refreshes the index: exactly the files edited, before the next answer. What a shell command changed only the tree can tell.

import type { Host } from '../host.ts';
import type { HookFile } from './compose.ts';
import { editsOf } from './edits.ts';

/** Tools that change no files; after any other the tree is looked at. */
const READERS = new Set([
  'read',
  'grep',
  'glob',
  'list',
  'webfetch',
  'websearch',
  'todowrite',
  'todoread',
  'skill',
  'question',
  'lsp',
]);

const OWN = new Set(['repo_context', 'change_impact', 'verify_change', 'lisp_eval', 'lisp_reset']);

/** Asks for a refresh of PATHS, or of the whole tree without any, beside the session; the sidecar carries it out before the answers asked for later. */
export function refresh(host: Host, paths: string[]): void {
  host
    .sidecar()
    .then((sidecar) => sidecar.call('refresh', { paths }))
    .catch((error) => host.log(`refresh: ${error.message}`));
}

/** Brings the index up to date with what a call of TOOL changed. */
export function refreshAfter(host: Host, tool: string, args: unknown, metadata: unknown): void {
  if (READERS.has(tool) || OWN.has(tool)) return;
  refresh(
    host,
    editsOf(host.root, tool, args, metadata).map((edit) => edit.path),
  );
}

export const freshness: HookFile = (host) => ({
  async 'tool.execute.after'({ tool, args }, result) {
    refreshAfter(host, tool, args, result?.metadata);
  },
});
