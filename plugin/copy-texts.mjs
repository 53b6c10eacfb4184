// The last step of `npm run build`: the texts beside the tools, which tsc leaves behind, and the right to run dist/cli.js.

import { chmodSync, cpSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { FOLDER } from './packages.mjs';

for (const name of readdirSync(path.join(FOLDER, 'plugin/tools'))) {
  if (name.endsWith('.txt')) cpSync(path.join(FOLDER, 'plugin/tools', name), path.join(FOLDER, 'dist/tools', name));
}
chmodSync(path.join(FOLDER, 'dist/cli.js'), 0o755);
