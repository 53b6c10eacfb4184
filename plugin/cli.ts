#!/usr/bin/env node
// opl: everything the agent can ask, from a shell. COMMANDS below; each has a file in commands/.

import { parseArgs } from 'node:util';
import { explain } from './advice.ts';
import { packageVersion } from './channel/core.ts';
import { Fault } from './channel/fault.ts';
import { amend } from './channel/validate.ts';
import { type Command, findRoot, type Surroundings } from './command.ts';
import { batch } from './commands/batch.ts';
import { contextCommand } from './commands/context.ts';
import { doctorCommand } from './commands/doctor.ts';
import { evalCommand } from './commands/eval.ts';
import { failuresCommand } from './commands/failures.ts';
import { impactCommand } from './commands/impact.ts';
import { indexCommand } from './commands/index.ts';
import { callsCommand, symbolsCommand } from './commands/rows.ts';
import { searchCommand } from './commands/search.ts';
import { verifyCommand } from './commands/verify.ts';
import { createHost, type Host } from './host.ts';
import { openProgress } from './progress.ts';

const COMMANDS: readonly Command<never>[] = [
  indexCommand,
  contextCommand,
  searchCommand,
  symbolsCommand,
  callsCommand,
  impactCommand,
  verifyCommand,
  failuresCommand,
  evalCommand,
  doctorCommand,
];

const COMMON = {
  root: { type: 'string' },
  json: { type: 'boolean' },
  debug: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** The command whose requests are the others; it has no arguments of its own. */
const BATCH = {
  name: 'batch',
  summary: 'JSON lines in, JSON lines out, one index',
  example: `echo '{"id":1,"command":"search","args":{"name":"parse"}}' | opl batch`,
  properties: {},
  required: [],
} as unknown as Command<never>;

function help(): string {
  const lines = ['opl: what a senior engineer has in the head, asked from a shell', ''];
  for (const { name, summary, example } of [...COMMANDS, BATCH])
    lines.push(`  ${name.padEnd(9)} ${summary}`, `            ${example}`);
  lines.push(
    '',
    'Every command takes --root DIR (default: the git top level above the current folder), --json and --debug.',
    '`opl COMMAND --help` lists its options; `opl --version` says which opl this is.',
  );
  return lines.join('\n');
}

function commandHelp({ name, summary, example, properties, positional }: Command<never>): string {
  const lines = [`opl ${name}${positional ? ` "${positional.toUpperCase()}"` : ''}: ${summary}`, `  ${example}`, ''];
  for (const [option, { type, description }] of Object.entries(properties)) {
    const value = type === 'boolean' ? '' : type === 'integer' ? ' N' : ' TEXT';
    lines.push(
      `  ${(option === positional ? `"${option.toUpperCase()}"` : `--${kebab(option)}${value}`).padEnd(20)} ${description}`,
    );
  }
  return lines.join('\n').trimEnd();
}

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** What to type in place of WORD, of which COMMAND takes none or one fewer. */
function tooMany(command: Command<never>, word: string): string {
  const quoted = JSON.stringify(word);
  const start = `${quoted} is one word too many; `;
  if (command.positional) return `${start}put what belongs together in quotes`;
  if ('target' in command.properties) return `${start}a file, a place or a name is given as --target ${quoted}`;
  if (command.name === 'calls')
    return `${start}all calls are listed; those of one name: opl eval '(callers ${quoted})'`;
  if (command.name === 'symbols') return `${start}all definitions are listed; those of one name: opl search ${quoted}`;
  return `${start}opl ${command.name} takes options alone`;
}

/** The words after the command, as common options and the command's own input. */
function parse(command: Command<never>, words: string[]) {
  const own = Object.entries(command.properties).filter(([name]) => name !== command.positional);
  const options = Object.fromEntries(
    own.map(([name, { type }]) => [
      kebab(name),
      { type: type === 'boolean' ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({
      args: words,
      options: { ...options, ...COMMON },
      allowPositionals: true,
    });
    const given = values as Record<string, unknown>;
    const input: Record<string, unknown> = Object.fromEntries(
      own.map(([name]) => [name, given[kebab(name)]]).filter(([, value]) => value !== undefined),
    );
    if (positionals.length > (command.positional ? 1 : 0)) throw new Error(tooMany(command, positionals.at(-1)!));
    if (command.positional && positionals[0] !== undefined) input[command.positional] = positionals[0];
    return {
      input,
      root: given.root as string | undefined,
      json: given.json === true,
      debug: given.debug === true,
      help: given.help === true,
    };
  } catch (error) {
    throw new Fault('bad-argument', `${(error as Error).message.split('\n')[0]} (opl ${command.name} --help)`);
  }
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function writeOut(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve()));
}

/** Runs WORK with what commands are given, and ends the sidecar afterwards. */
async function surrounded<T>(
  flags: { root: string | undefined; json: boolean; debug: boolean },
  work: (here: Surroundings, host: Host) => Promise<T>,
): Promise<T> {
  const root = await findRoot(flags.root);
  const host = createHost(root, {}, flags.debug ? (text) => void process.stderr.write(`${text}\n`) : undefined);
  const settings = await host.settings();
  if (process.env.OPL_INSTALL)
    await (await import('./setup.ts')).installMissing(settings, (text) => void process.stderr.write(`${text}\n`));
  const progress = openProgress(process.stderr);
  try {
    return await work(
      {
        root,
        settings,
        asJson: flags.json,
        progress: progress.report,
        signal: undefined,
        sidecar: () => host.sidecar(),
        write: writeOut,
      },
      host,
    );
  } finally {
    progress.end();
    await host.dispose();
  }
}

/** The bare word of a command is asked for in the words of its help, not in those of a schema. */
function requirePositional({ name, positional, required, example }: Command<never>, input: Record<string, unknown>) {
  if (positional && required.includes(positional) && input[positional] === undefined)
    throw new Fault('bad-argument', `${name}: "${positional.toUpperCase()}" is missing, as in: ${example}`);
}

async function runCommand(command: Command<never>, words: string[]): Promise<number> {
  const { input, help: wanted, ...flags } = parse(command, words);
  if (wanted) {
    await writeOut(`${commandHelp(command)}\n`);
    return 0;
  }
  requirePositional(command, input);
  if (command.fromInput && input[command.fromInput] === '-') {
    const text = await readInput();
    // a line end tells a diff, even an empty one, from the name of a file
    input[command.fromInput] = command.fromInput === 'diff' && !text.endsWith('\n') ? `${text}\n` : text;
  }
  amend(
    { type: 'object', properties: command.properties, required: command.required, additionalProperties: false },
    input,
    'bad-argument',
    `${command.name}:`,
  );
  return surrounded(flags, async (here) => {
    const answer = await command.run(input as never, here);
    if (answer) await writeOut(flags.json ? `${JSON.stringify(answer.json)}\n` : `${answer.text}\n`);
    return answer?.status ?? 0;
  });
}

async function runBatch(words: string[]): Promise<number> {
  const { root, debug, help: wanted } = parse(BATCH, words);
  if (wanted) {
    await writeOut(`${commandHelp(BATCH)}\n`);
    return 0;
  }
  return surrounded({ root, json: true, debug }, async (here) => batch(COMMANDS, here, process.stdin));
}

/** With no command: help; as `npm start` also the index of where one stands. */
async function introduce(): Promise<number> {
  if (process.env.OPL_INSTALL) await runCommand(indexCommand as Command<never>, []);
  await writeOut(`${process.env.OPL_INSTALL ? '\n' : ''}${help()}\n`);
  return 0;
}

async function main(words: string[]): Promise<number> {
  const [name, ...rest] = words;
  if (name === undefined || name.startsWith('-')) {
    if (name === undefined || name === '--help' || name === '-h') return introduce();
    if (name === '--version') {
      await writeOut(`${packageVersion()}\n`);
      return 0;
    }
    throw new Fault('bad-argument', `A command comes first; \`opl\` alone lists them.`);
  }
  if (name === 'help') return introduce();
  if (name === 'batch') return runBatch(rest);
  const command = COMMANDS.find((one) => one.name === name);
  if (!command) throw new Fault('bad-argument', `There is no command ${name}; \`opl\` alone lists them.`);
  return runCommand(command, rest);
}

// A reader that has seen enough (`opl symbols | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 2));

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`opl: ${explain(error).replace(/\s*\n\s*/g, ' ')}\n`);
  process.exitCode = 2;
}
