// Installs sbcl and universal-ctags where they are missing and that is allowed; ends with 1 when something is missing still.

import { readSettings } from './settings.ts';
import { installMissing, missingPackages } from './setup.ts';

const settings = await readSettings();
await installMissing(settings, (text) => void process.stderr.write(`${text}\n`));
const missing = await missingPackages(settings);
if (missing.length > 0) {
  process.stderr.write(`Missing: ${missing.join(', ')}.\n`);
  process.exitCode = 1;
}
