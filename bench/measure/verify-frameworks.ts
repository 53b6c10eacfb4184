// Tiny projects of every framework in five states, and what verify should say of each.

import type { Framework } from './verify-framework.ts';
import { COMPILED } from './verify-frameworks-compiled.ts';
import { JAVASCRIPT } from './verify-frameworks-javascript.ts';
import { SCRIPTED } from './verify-frameworks-scripted.ts';

/** All frameworks, in the order of the matrix. */
export const FRAMEWORKS: readonly Framework[] = [...JAVASCRIPT, ...SCRIPTED, ...COMPILED];
