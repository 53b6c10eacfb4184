// The skill folder of this package is offered where OpenCode finds skills.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_FOLDER } from '../channel/core.ts';
import type { HookFile } from './compose.ts';

const FOLDER = path.join(PACKAGE_FOLDER, 'plugin', 'skills');

export const skills: HookFile = () => ({
  async config(config) {
    const open = config as { skills?: { paths?: string[] } };
    if (!existsSync(FOLDER)) return;
    open.skills = { ...open.skills, paths: [...(open.skills?.paths ?? []), FOLDER] };
  },
});
