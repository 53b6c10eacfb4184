// The real OpenCode binary in a home of its own, with our plugin and a scripted model, and no network.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { CACHE, git, REPOSITORY, scratchFolder, writeFiles } from '../scratch.ts';

const BINARY = path.join(REPOSITORY, 'node_modules/.bin/opencode');

/** A run takes some four seconds on an idle machine and forty on a busy one. */
const RUN_MILLISECONDS = 180_000;

export interface Project {
  folder: string;
  home: string;
  env: Record<string, string>;
}

export interface ProjectOptions {
  modelUrl: string;
  files?: Record<string, string>;
  /** OpenCode's rules, e.g. { lisp_eval: 'deny' }. */
  permission?: unknown;
  /** Options of the plugin. */
  options?: Record<string, unknown>;
  env?: Record<string, string>;
  /** The model's limits in tokens. */
  limit?: { context: number; output: number };
  /** More of OpenCode's own configuration. */
  configuration?: Record<string, unknown>;
  /** In place of our plugin, to see what a session without it is like. */
  plugins?: unknown[];
}

/** OpenCode installs its plugin package into a config folder that does not look like this one. */
function seed(folder: string): void {
  const dependencies = { '@opencode-ai/plugin': '0.0.0' };
  mkdirSync(path.join(folder, 'node_modules'), { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ dependencies }));
  const lock = { name: 'seed', lockfileVersion: 3, requires: true, packages: { '': { dependencies } } };
  writeFileSync(path.join(folder, 'package-lock.json'), JSON.stringify(lock));
}

function configurationOf(given: ProjectOptions): object {
  const { modelUrl, permission, options, plugins } = given;
  const limit = given.limit ?? { context: 200_000, output: 8192 };
  // The folder of the built package: what a user installs, entered through its package.json.
  const entry = options ? [REPOSITORY, options] : REPOSITORY;
  return {
    model: 'scripted/model',
    small_model: 'scripted/model',
    autoupdate: false,
    share: 'disabled',
    snapshot: false,
    lsp: false,
    formatter: false,
    enabled_providers: ['scripted'],
    permission: permission ?? 'allow',
    plugin: plugins ?? [entry],
    provider: {
      scripted: {
        name: 'Scripted',
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: modelUrl, apiKey: 'none' },
        models: { model: { name: 'Model', tool_call: true, limit } },
      },
    },
    ...given.configuration,
  };
}

/** A committed repository with OpenCode configured for it; gone after the test. */
export function makeProject(t: Pick<TestContext, 'after'>, options: ProjectOptions): Project {
  const top = scratchFolder(t);
  const folder = path.join(top, 'project');
  const home = path.join(top, 'home');
  for (const one of [folder, home]) mkdirSync(one);
  const env: Record<string, string> = {
    PATH: process.env.PATH!,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    NO_COLOR: '1',
    HOME: home,
    OPENCODE_TEST_HOME: home,
    XDG_CONFIG_HOME: path.join(home, '.config'),
    XDG_DATA_HOME: path.join(home, '.local/share'),
    XDG_STATE_HOME: path.join(home, '.local/state'),
    // The sidecar's core is shared by all tests; what OpenCode caches is little.
    XDG_CACHE_HOME: CACHE,
    OPENCODE_MODELS_PATH: path.join(top, 'models.json'),
    ...Object.fromEntries(
      [
        'AUTOUPDATE',
        'MODELS_FETCH',
        'LSP_DOWNLOAD',
        'DEFAULT_PLUGINS',
        'SHARE',
        'CLAUDE_CODE',
        'EXTERNAL_SKILLS',
        'TERMINAL_TITLE',
        'EMBEDDED_WEB_UI',
      ].map((name) => [`OPENCODE_DISABLE_${name}`, '1']),
    ),
    ...options.env,
  };
  seed(path.join(env.XDG_CONFIG_HOME!, 'opencode'));
  writeFileSync(env.OPENCODE_MODELS_PATH!, '{}');
  writeFiles(folder, { ...options.files, 'opencode.json': JSON.stringify(configurationOf(options), null, 2) });
  git(folder, 'init', '-q', '-b', 'main');
  git(folder, 'add', '-A');
  git(folder, 'commit', '-q', '-m', 'first');
  return { folder, home, env };
}

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** `opencode run MESSAGE` in PROJECT. */
export async function runOpenCode(project: Project, message: string, words: string[] = []): Promise<Ran> {
  const all = ['run', message, '-m', 'scripted/model', '--title', 'fixed', ...words];
  const child = spawn(BINARY, all, { cwd: project.folder, env: project.env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const late = setTimeout(() => child.kill('SIGKILL'), RUN_MILLISECONDS);
  const [code] = await once(child, 'close');
  clearTimeout(late);
  return { code, stdout, stderr };
}

/** `opencode serve` in PROJECT: its address; ended after the test. */
export async function serveOpenCode(
  t: Pick<TestContext, 'after'>,
  project: Project,
): Promise<{ url: string; pid: number }> {
  const words = ['serve', '--hostname', '127.0.0.1', '--port', '0'];
  const child = spawn(BINARY, words, { cwd: project.folder, env: project.env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  let said = '';
  const url = await new Promise<string>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`opencode serve did not listen: ${said}`)), RUN_MILLISECONDS);
    const listen = (chunk: Buffer) => {
      said += chunk;
      const address = /listening on (http:\/\/\S+)/.exec(said)?.[1];
      if (!address) return;
      clearTimeout(late);
      resolve(address);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
  });
  return { url, pid: child.pid! };
}
