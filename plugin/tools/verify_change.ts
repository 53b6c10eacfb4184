// verify_change: did it work, and if not, what exactly broke.

import path from 'node:path';
import type { Host } from '../host.ts';
import { renderVerify } from '../render/verify.ts';
import { sidecarOptions } from '../settings.ts';
import { type Tool, toolText } from '../tool.ts';
import { sidecarSeams } from '../verify/sidecar-seams.ts';
import { DEFAULT_TIMEOUT_SECONDS } from '../verify/verify.ts';

interface Input {
  diff?: string;
  test_command?: string;
  targeted_only: boolean;
  baseline: boolean;
  timeout: number;
}

export function verifyChangeTool(host: Host): Tool<Input> {
  return {
    name: 'verify_change',
    description: toolText('verify_change'),
    properties: {
      diff: {
        type: 'string',
        description:
          'The change as a diff, in any usual form. Left out: the working tree against HEAD, untracked files included.',
      },
      test_command: {
        type: 'string',
        description:
          "The command that runs the tests, as typed in a shell. Left out: the project's own, found from its files.",
      },
      targeted_only: {
        type: 'boolean',
        default: false,
        description: 'Run only the tests of the change, for a quick answer while still editing.',
      },
      baseline: {
        type: 'boolean',
        default: false,
        description:
          'Run what failed without the change too, in a separate worktree, to tell old failures from new ones.',
      },
      timeout: {
        type: 'integer',
        minimum: 1,
        maximum: 86_400,
        default: DEFAULT_TIMEOUT_SECONDS,
        description: `Seconds for everything (default ${DEFAULT_TIMEOUT_SECONDS}).`,
      },
    },
    required: [],
    // A command of the model's own falls under the rules the user made for a shell.
    permission: ({ test_command }) => {
      const command = test_command?.trim();
      return command
        ? { key: 'bash', patterns: [command], metadata: { command } }
        : { key: 'verify_change', patterns: ['*'], metadata: { command: 'the test command of the project' } };
    },
    async execute({ diff, test_command, targeted_only, baseline, timeout }, { signal, title }) {
      const { verify } = await import('../verify/verify.ts');
      const { indexFolder } = sidecarOptions(host.root, await host.settings());
      const answer = await verify({
        root: host.root,
        diff: diff?.trim() ? diff : undefined,
        command: test_command?.trim() ? test_command : undefined,
        targetedOnly: targeted_only,
        baseline,
        timeoutSeconds: timeout,
        seams: sidecarSeams(() => host.sidecar(), indexFolder),
        spoolFolder: path.join(indexFolder, 'verify'),
        signal,
        stopCommand: process.env.OPL_VERIFY_STOP,
        onProgress: (command, { seconds, lastLine }) =>
          title(`${command} (${Math.round(seconds)} s) ${lastLine}`.slice(0, 160)),
      });
      const { verdict, ran, failures, log } = answer;
      return {
        title: `${verdict}${failures.length > 0 ? `, ${failures.length} failures` : ''}`,
        output: renderVerify(answer),
        metadata: {
          verdict,
          ran,
          failures: failures.length,
          // What the session's memory keeps.
          failing: failures.slice(0, 50).map(({ test, path, line, message }) => ({ test, path, line, message })),
          log,
        },
      };
    },
  };
}
