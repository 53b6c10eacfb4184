// What tools and hooks are given: the root of a session, its settings, its log and its sidecar, each made when first asked for.

import path from 'node:path';
import type { CallOptions, Sidecar } from './channel/sidecar.ts';
import { homeFolder, openLog, readSettings, type Settings, sidecarOptions } from './settings.ts';

export interface Host {
  /** The folder whose repository is asked about. */
  readonly root: string;
  settings(): Promise<Settings>;
  /** The sidecar of this root; started by its first call. Rejects with a Fault when settings are wrong. */
  sidecar(): Promise<Sidecar>;
  /** Appends to the log file when there is one. Never throws. */
  log(text: string): void;
  /** Gives the sidecar back. */
  dispose(): Promise<void>;
}

/** A host for ROOT with the user's OPTIONS. Costs nothing until something is asked of it. WRITE takes the log in place of the log file. */
export function createHost(root: string, options?: unknown, write?: (text: string) => void): Host {
  let settings: Promise<Settings> | undefined;
  let shared: Promise<{ sidecar: Sidecar; release(): Promise<void> }> | undefined;
  let log = write;
  const share = async () => {
    const read = await host.settings();
    // The channel is loaded here and not above: a session that asks nothing does not pay for it.
    const { shareSidecar } = await import('./channel/shared.ts');
    return shareSidecar(sidecarOptions(root, read, (text) => host.log(text)));
  };
  const host: Host = {
    root,
    settings() {
      settings ??= readSettings(options).then((read) => {
        log ??= openLog(read.debug);
        return read;
      });
      return settings;
    },
    async sidecar() {
      shared ??= share();
      return (await shared).sidecar;
    },
    log(text) {
      log?.(text);
    },
    async dispose() {
      const held = await shared?.catch(() => undefined);
      shared = undefined;
      await held?.release();
    },
  };
  return host;
}

/** The root of a session: the worktree, except where a host names the whole disk or nothing because there is no repository. */
export function sessionRoot(worktree: string | undefined, directory: string): string {
  const whole = !worktree || path.parse(worktree).root === worktree || worktree === homeFolder();
  return whole ? directory : worktree;
}

/** Waits until the index of SIDECAR is whole, but not longer than MILLISECONDS: an answer then says itself what it lacks. */
export async function awaitIndex(sidecar: Sidecar, milliseconds: number, options: CallOptions): Promise<void> {
  const late = AbortSignal.timeout(milliseconds);
  const signal = options.signal ? AbortSignal.any([late, options.signal]) : late;
  try {
    await sidecar.call('ready', { saved: false }, { ...options, signal });
  } catch (error) {
    if (!late.aborted || options.signal?.aborted) throw error;
  }
}
