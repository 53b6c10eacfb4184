// opl index: index the root and say what is there.

import type { Answer, Command } from '../command.ts';
import { count, table } from '../render/table.ts';

const LANGUAGES_SHOWN = 12;
const SKIPPED_SHOWN = 10;

export const indexCommand: Command<{ rebuild: boolean }> = {
  name: 'index',
  summary: 'index the repository and print what is there',
  example: 'opl index --root ~/src/project',
  properties: {
    rebuild: { type: 'boolean', default: false, description: 'read every file again, whatever the snapshot says' },
  },
  required: [],
  async run({ rebuild }, { root, sidecar, progress, signal }): Promise<Answer> {
    const reply = await (await sidecar()).call('index', { rebuild }, { onProgress: progress, signal });
    const totals = reply.totals[0];
    if (!totals) throw new Error('the sidecar said nothing of its index');
    const languages = Object.fromEntries(reply.language.map(({ name, files, tags }) => [name, { files, tags }]));
    const { files, tags, callSites, edges, seconds, from, complete, reason } = totals;
    const skipped = reply.skipped.map(({ path, reason: why }) => ({ path, reason: why }));
    const lines = [
      `${root}: ${count(files)} files, ${count(tags)} definitions, ${count(callSites)} call sites, ${count(edges)} resolved calls`,
      `from ${from} in ${seconds.toFixed(2)} s${complete ? '' : `; not complete: ${reason}`}`,
      '',
      table([
        ['language', 'files', 'definitions'],
        ...reply.language.slice(0, LANGUAGES_SHOWN).map((one) => [one.name, count(one.files), count(one.tags)]),
      ]),
    ];
    if (reply.language.length > LANGUAGES_SHOWN)
      lines.push(`… ${reply.language.length - LANGUAGES_SHOWN} more languages`);
    if (skipped.length > 0) {
      lines.push(
        '',
        `${count(skipped.length)} left out:`,
        ...skipped.slice(0, SKIPPED_SHOWN).map((one) => `  ${one.path}: ${one.reason}`),
      );
      if (skipped.length > SKIPPED_SHOWN)
        lines.push(`  … ${skipped.length - SKIPPED_SHOWN} more; --json lists them all`);
    }
    return {
      json: {
        root,
        files,
        tags,
        callSites,
        edges,
        languages,
        skipped,
        seconds,
        from,
        complete,
        ...(reason ? { reason } : {}),
      },
      text: lines.join('\n'),
    };
  },
};
