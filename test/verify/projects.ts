import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after } from 'node:test';

const made: string[] = [];

after(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** A project in a folder of its own, from paths and texts; removed after the tests of the file. */
export function project(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'opl-verify-'));
  made.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

/** A package.json with these scripts and dependencies. */
export function manifest(
  scripts: Readonly<Record<string, string>>,
  more: Readonly<Record<string, unknown>> = {},
): string {
  return JSON.stringify({ name: 'sample', version: '1.0.0', scripts, ...more });
}
