// A lock file: one process at a time, whoever dies.

import { open, readFile, rm, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** So often it is looked whether the lock is free. */
const POLL_MILLISECONDS = 100;

/** The owner of a new lock may not have written its number yet; after so long it never will. */
const UNSIGNED_MILLISECONDS = 5000;

/** Runs WORK while this process alone holds LOCK, a file. A lock whose owner is gone, or that is older than STALE milliseconds, is taken over. */
export async function underLock(lock: string, stale: number, work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      const file = await open(lock, 'wx');
      await file.writeFile(String(process.pid));
      await file.close();
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      // Two waiters may take over at once and build twice; each writes under a name of its own, so nothing worse comes of it.
      if (await isStale(lock, stale)) await rm(lock, { force: true });
      else await sleep(POLL_MILLISECONDS);
    }
  }
  try {
    await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function isStale(lock: string, stale: number): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(lock);
    if (Date.now() - mtimeMs > stale) return true;
    const pid = Number(await readFile(lock, 'utf8'));
    if (!pid) return Date.now() - mtimeMs > UNSIGNED_MILLISECONDS;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
