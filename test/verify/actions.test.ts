// What to do about what is missing: the command to type, by what the tool says.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionsFor } from '../../plugin/verify/actions.ts';
import { Folder } from '../../plugin/verify/folder.ts';
import { scratchRepository } from '../scratch.ts';

const SAID: readonly (readonly [string, RegExp])[] = [
  ['Could not find rake-13.0.6 in locally installed gems\nRun `bundle install` to install', /bundle install/],
  ['Unchecked dependencies for environment test:', /mix deps\.get/],
  ['/w/Shop.csproj : error NU1101: Unable to find package Acme.Lib.', /Acme\.Lib.*dotnet restore/],
  ['MSBUILD : error MSB1003: Specify a project or solution file.', /dotnet test tests\/Name\.csproj/],
  [
    'error: package `clap v4.5.1` cannot be built because it requires rustc 1.74 or newer',
    /rustc 1\.74.*rustup update/,
  ],
  ['error: failed to get `serde` as a dependency of package `shop`', /serde.*cargo fetch/],
  ['error: No solution found when resolving dependencies:', /uv sync/],
  ["This package doesn't seem to be present in your lockfile", /yarn install/],
  [
    'error shop@1.0.0: The engine "node" is incompatible with this module. Expected version ">=99".',
    /node >=99 is needed/,
  ],
  ['Could not find package `test` or file `test`', /dart pub get/],
  ['Cannot connect to the Docker daemon at unix:///var/run/docker.sock.', /start Docker/],
  ["ERROR: JAVA_HOME is not set and no 'java' command could be found", /install a JDK/],
  ['sh: ./gradlew: Permission denied', /chmod \+x \.\/gradlew/],
  ['sh: 1: ./gradlew: Permission denied', /chmod \+x \.\/gradlew/],
  ['Error: cabal: Could not resolve dependencies:', /cabal update/],
  ['getaddrinfo ENOTFOUND registry.example', /network/],
  ['ERR_PNPM_NO_SCRIPT  Missing script: test', /no script test/],
];

test('what is missing is answered with what to type', (t) => {
  const folder = new Folder(scratchRepository(t, { 'yarn.lock': '', 'package.json': '{}' }));
  const plan = { runner: 'unknown', ecosystem: 'any', cwd: '', argv: [], env: {} } as never;
  for (const [message, wanted] of SAID) {
    const failures = [
      { test: null, path: null, line: null, suite: true, message, category: 'setup' as const, frames: [] },
    ];
    const context = {
      folder,
      plan,
      failures,
      tail: '',
      exit: 1,
      rerun: undefined,
      full: 'x',
      timeoutSeconds: 1,
      lastLine: '',
    };
    assert.match(actionsFor({ ...context, verdict: 'setup-error' }).join('\n'), wanted, message);
    // said at the end of the log alone
    assert.match(actionsFor({ ...context, verdict: 'setup-error', failures: [], tail: message }).join('\n'), wanted);
    const wellEnded = actionsFor({ ...context, verdict: 'unparsed', failures: [], tail: message, exit: 0 });
    assert.doesNotMatch(wellEnded.join('\n'), wanted);
  }
});
