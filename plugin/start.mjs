// `npm start -- …`: `opl` from a checkout on a machine where nothing is installed yet.

import { spawn } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensurePackages, FOLDER } from './packages.mjs';

ensurePackages(['tsx', 'execa', 'split2', 'ajv']);
const loader = pathToFileURL(path.join(FOLDER, 'node_modules/tsx/dist/esm/index.mjs')).href;
const child = spawn(
  process.execPath,
  ['--import', loader, path.join(FOLDER, 'plugin/cli.ts'), ...process.argv.slice(2)],
  {
    stdio: 'inherit',
    // npm runs scripts in the package's folder; the user stands elsewhere.
    cwd: process.env.INIT_CWD ?? process.cwd(),
    env: { ...process.env, OPL_INSTALL: '1' },
  },
);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 2 : 0)));
