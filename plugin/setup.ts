// Installs sbcl and universal-ctags with the system's package manager, when asked to (OPL_INSTALL) and allowed to.

import { CTAGS_VERSION, findManager, installAdvice, installCommands, mayInstall, type Package } from './advice.ts';
import { runProgram } from './channel/child.ts';
import { findProgram } from './channel/core.ts';
import type { Settings } from './settings.ts';

/** Which system packages SETTINGS' programs come from and are not there. */
export async function missingPackages({ sbcl, ctags }: Settings): Promise<Package[]> {
  const missing: Package[] = [];
  if (!findProgram(sbcl)) missing.push('sbcl');
  const { stdout } = await runProgram(ctags, CTAGS_VERSION, { milliseconds: 10_000 });
  if (!stdout.startsWith('Universal Ctags')) missing.push('universal-ctags');
  return missing;
}

/** Installs what is missing; SAY gets what is being done or what to type. Never throws: what needs the programs says so itself. */
export async function installMissing(settings: Settings, say: (text: string) => void): Promise<void> {
  const missing = await missingPackages(settings);
  if (missing.length === 0) return;
  if (!mayInstall()) {
    say(`${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} missing. ${installAdvice(missing)}`);
    return;
  }
  say(`Installing ${missing.join(' and ')} with ${findManager()!.program} …`);
  for (const [program, ...words] of installCommands(missing)) {
    const { exitCode } = await runProgram(program!, words, {
      inherit: true,
      environment: { DEBIAN_FRONTEND: 'noninteractive' },
    });
    if (exitCode !== 0) say(`${program} ${words.join(' ')} ended with ${exitCode}.`);
  }
}
