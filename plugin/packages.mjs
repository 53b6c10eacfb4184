// Installs the npm packages of a checkout when they are missing. Plain JavaScript, because nothing that reads TypeScript is there before it has run.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

export const FOLDER = path.resolve(import.meta.dirname, '..');

/** Sees to it that PACKAGES are in node_modules; ends the process with what to do when npm fails. Says what it does on standard error alone. */
export function ensurePackages(packages) {
  if (packages.every((name) => existsSync(path.join(FOLDER, 'node_modules', name, 'package.json')))) return;
  process.stderr.write('Installing npm packages (once) …\n');
  // npm's own words go to standard error: standard output belongs to the answer. Not `npm ci`, which refuses a lock file made where a registry does
  // not have the packages of every other platform.
  const { status } = spawnSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: FOLDER,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status === 0) return;
  process.stderr.write(`npm packages could not be installed; type: cd ${FOLDER} && npm install --loglevel=notice\n`);
  process.exit(2);
}
