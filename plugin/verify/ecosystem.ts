/** Which family of languages a path belongs to, and which families are built from the top of their tree. */

const BY_SUFFIX: Readonly<Record<string, readonly string[]>> = {
  javascript: ['js', 'jsx', 'mjs', 'cjs', 'ts', 'tsx', 'mts', 'cts', 'vue', 'svelte', 'astro'],
  python: ['py', 'pyi', 'pyx'],
  jvm: ['java', 'kt', 'kts', 'scala', 'groovy', 'clj', 'cljc'],
  dotnet: ['cs', 'fs', 'vb', 'razor', 'csproj', 'fsproj', 'sln'],
  go: ['go'],
  rust: ['rs'],
  native: ['c', 'h', 'cc', 'cpp', 'cxx', 'hpp', 'hh', 'm', 'mm', 'cmake'],
  ruby: ['rb', 'rake', 'erb'],
  php: ['php', 'phpt'],
  shell: ['bats', 'sh', 'bash'],
  perl: ['pl', 'pm', 't'],
  elixir: ['ex', 'exs', 'heex'],
  erlang: ['erl', 'hrl'],
  dart: ['dart'],
  gleam: ['gleam'],
  swift: ['swift'],
  haskell: ['hs', 'lhs'],
  ocaml: ['ml', 'mli'],
  zig: ['zig'],
  lua: ['lua'],
};

const SUFFIXES = new Map(
  Object.entries(BY_SUFFIX).flatMap(([family, suffixes]) =>
    suffixes.map((suffix): [string, string] => [suffix, family]),
  ),
);

/** undefined for files of no language: documents, data, configuration. */
export function ecosystemOf(path: string): string | undefined {
  const suffix = /\.([A-Za-z0-9]+)$/.exec(path)?.[1];
  return suffix === undefined ? undefined : SUFFIXES.get(suffix.toLowerCase());
}

/** Their build tools read the outermost file and know the modules below it; the others are built where they stand. */
const FROM_THE_TOP = new Set(['jvm', 'dotnet', 'native', 'ocaml', 'haskell', 'perl', 'shell']);

/** Whether projects of FAMILY are built from their outermost folder. */
export function builtFromTop(family: string): boolean {
  return FROM_THE_TOP.has(family);
}
