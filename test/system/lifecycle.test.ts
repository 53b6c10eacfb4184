// What opl starts is gone with it: sbcl, and a ctags that hangs.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { alive, CACHE, REPOSITORY, scratchFolder, scratchRepository, until } from '../scratch.ts';

/** A ctags that answers what it is and then hangs on its work, its process id in a file. */
function hangingCtags(t: TestContext): { program: string; pidFile: string } {
  const folder = scratchFolder(t);
  const [program, pidFile] = [path.join(folder, 'ctags'), path.join(folder, 'pid')];
  const text = `#!/bin/sh\ncase "$*" in *--version*|*--list-*) exec ctags "$@";; esac\necho $$ >"${pidFile}"\nexec sleep 600\n`;
  writeFileSync(program, text, { mode: 0o755 });
  return { program, pidFile };
}

/** Processes whose parent is PID, by /proc. */
function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number) : [];
}

for (const signal of ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  test(`opl that ends by ${signal} while ctags hangs leaves neither sbcl nor ctags`, async (t) => {
    const root = scratchRepository(t, { 'a.tcl': 'proc f {} {}\n' });
    const { program, pidFile } = hangingCtags(t);
    const host = spawn(
      process.execPath,
      ['--import', 'tsx', path.join(REPOSITORY, 'plugin/cli.ts'), 'index', '--root', root],
      {
        cwd: REPOSITORY,
        stdio: 'ignore',
        env: { ...process.env, XDG_CACHE_HOME: CACHE, OPL_CTAGS: program },
      },
    );
    t.after(() => host.kill('SIGKILL'));
    await until('ctags runs', () => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '', 60_000);
    const ctags = Number(readFileSync(pidFile, 'utf8'));
    const sidecars = process.platform === 'linux' ? childrenOf(host.pid!) : [];
    assert.ok(alive(ctags));
    host.kill(signal);
    await until('everything is gone', () => [ctags, ...sidecars].every((pid) => !alive(pid)), 5000);
  });
}
