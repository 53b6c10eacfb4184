// The shape of the TypeScript half: imports run one way, processes start in two places, the OpenCode package is known in three.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { REPOSITORY } from '../scratch.ts';

const PLUGIN = path.join(REPOSITORY, 'plugin');

const files = readdirSync(PLUGIN, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

/** What FILE imports; what only the compiler sees counts when TYPES is true. */
function imports(file: string, types = true): string[] {
  const text = readFileSync(path.join(PLUGIN, file), 'utf8');
  const all = types ? text : text.replace(/^(?:import|export) type [^;]*;$/gm, '');
  const found = all.matchAll(
    /^(?:import|export)\b[\w\s{},*$]*?\bfrom '([^']+)';$|^import '([^']+)';$|\bimport\('([^']+)'\)/gm,
  );
  return [...found].map((match) => match[1] ?? match[2] ?? match[3]!);
}

/** The room of FILE: its folder, or the file itself at the top. */
const room = (file: string) => (file.includes('/') ? file.split('/')[0]! : file);

const inside = (file: string, target: string) => path.posix.join(path.posix.dirname(file), target);

/** What each room may import, itself apart. */
const ALLOWED: Record<string, string[]> = {
  channel: [],
  verify: ['channel'],
  render: ['channel', 'verify'],
  'settings.ts': ['channel'],
  'advice.ts': ['channel'],
  'host.ts': ['channel', 'settings.ts'],
  'tool.ts': ['channel', 'advice.ts'],
  tools: ['channel', 'render', 'verify', 'settings.ts', 'host.ts', 'tool.ts'],
  hooks: ['channel', 'render', 'verify', 'settings.ts', 'host.ts', 'tool.ts'],
  'command.ts': ['channel', 'settings.ts', 'tool.ts'],
  commands: ['channel', 'render', 'verify', 'settings.ts', 'advice.ts', 'command.ts'],
  'progress.ts': [],
  'setup.ts': ['channel', 'settings.ts', 'advice.ts'],
  'install.ts': ['settings.ts', 'setup.ts'],
};

test('imports run one way', () => {
  for (const file of files) {
    const allowed = ALLOWED[room(file)];
    if (!allowed) continue;
    for (const target of imports(file).filter((one) => one.startsWith('.') && one.endsWith('.ts'))) {
      const other = room(inside(file, target));
      assert.ok(
        other === room(file) || allowed.includes(other),
        `plugin/${file} imports ${other}, which ${room(file)} may not see`,
      );
    }
  }
});

test('tools never import each other', () => {
  for (const file of files.filter((one) => one.startsWith('tools/'))) {
    for (const target of imports(file)) assert.ok(!target.startsWith('./'), `plugin/${file} imports ${target}`);
  }
});

test('processes are started by channel/child and verify/run alone', () => {
  const starters = files.filter((file) => imports(file).some((one) => one === 'execa' || /child_process/.test(one)));
  assert.deepEqual(
    starters.filter((file) => file !== 'channel/child.ts' && !/^verify\/run(-\w+)?\.ts$/.test(file)),
    [],
  );
});

test("OpenCode's package is known to its entry, tools and hooks alone", () => {
  for (const file of files.filter((one) => imports(one).some((name) => name.startsWith('@opencode-ai/')))) {
    assert.ok(file === 'opencode.ts' || ['tools', 'hooks'].includes(room(file)), `plugin/${file}`);
  }
});

test('only modules of Node are used, so that OpenCode Desktop loads the plugin too', () => {
  const known = ['@opencode-ai/plugin', 'ajv', 'execa', 'split2'];
  for (const file of files) {
    for (const name of imports(file, false)) {
      assert.ok(
        name.startsWith('.') || name.startsWith('node:') || known.includes(name),
        `plugin/${file} imports ${name}`,
      );
    }
    assert.doesNotMatch(readFileSync(path.join(PLUGIN, file), 'utf8'), /\bBun\./, `plugin/${file}`);
  }
});

test('each tool has its text beside it', () => {
  const tools = files.filter((one) => one.startsWith('tools/')).map((one) => one.replace(/\.ts$/, '.txt'));
  for (const text of tools) assert.ok(readFileSync(path.join(PLUGIN, text), 'utf8').length > 40, text);
});
