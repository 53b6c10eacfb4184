// A sidecar whose program is another one, named for its fault: what the tests of the channel and of the hooks share.

import type { TestContext } from 'node:test';
import { Sidecar } from '../plugin/channel/sidecar.ts';
import { scratchFolder } from './scratch.ts';

/** A sidecar of a new root whose process is node with WORDS; ended with the test. What it logs goes to LOG. */
export function falseSidecar(
  t: TestContext,
  words: string[],
  log: (text: string) => void,
  greetingMilliseconds: number,
): Sidecar {
  const root = scratchFolder(t);
  const sidecar = new Sidecar({
    root,
    sbcl: 'sbcl',
    ctags: 'ctags',
    excludes: [],
    cacheFolder: root,
    indexFolder: root,
    heapMegabytes: 512,
    stackMegabytes: 2,
    log,
    launch: async () => ({ program: process.execPath, arguments: words, greetingMilliseconds, core: null, note: null }),
  });
  t.after(() => sidecar.stop());
  return sidecar;
}
