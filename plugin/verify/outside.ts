// Changes that no call graph can follow: what they break is known only when everything runs.

interface OutsideRule {
  readonly why: string;
  readonly pattern: RegExp;
}

/** The first rule that fits says why. Paths are relative and `/`-separated. */
const OUTSIDE: readonly OutsideRule[] = [
  {
    why: 'a lock file: any dependency may behave otherwise',
    pattern:
      /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock|poetry\.lock|uv\.lock|pdm\.lock|Pipfile\.lock|Cargo\.lock|go\.sum|Gemfile\.lock|composer\.lock|mix\.lock|pubspec\.lock|Package\.resolved|gradle\.lockfile|packages\.lock\.json|flake\.lock|stack\.yaml\.lock|manifest\.toml)$/,
  },
  {
    why: 'a manifest: dependencies, scripts or build settings',
    pattern:
      /(^|\/)(package\.json|pyproject\.toml|setup\.(py|cfg)|requirements[\w.-]*\.txt|constraints\.txt|Pipfile|go\.(mod|work)|Cargo\.toml|Gemfile|[\w.-]+\.gemspec|composer\.json|mix\.exs|pubspec\.yaml|Package\.swift|pom\.xml|[\w.-]*\.gradle(\.kts)?|gradle\.properties|build\.sbt|[\w.-]+\.(csproj|fsproj|vbproj|sln|cabal|props|targets)|stack\.yaml|dune(-project)?|build\.zig(\.zon)?|gleam\.toml|deno\.jsonc?|pnpm-workspace\.yaml|lerna\.json)$/,
  },
  {
    why: 'build or test configuration',
    pattern:
      /(^|\/)(tsconfig[\w.-]*\.json|jsconfig\.json|babel\.config\.\w+|\.babelrc(\.\w+)?|\.swcrc|(vite|vitest|jest|playwright|cypress|karma|webpack|rollup|esbuild|ava|metro|next|nuxt|svelte|astro|wdio)\.(config|conf|workspace|setup)[\w.-]*|\.mocharc(\.\w+)?|\.taprc|pytest\.ini|tox\.ini|noxfile\.py|\.coveragerc|\.rspec|phpunit[\w.-]*\.xml(\.dist)?|CMakeLists\.txt|[\w.-]+\.cmake|meson\.build|meson_options\.txt|GNUmakefile|[Mm]akefile|Rakefile|justfile|Taskfile\.ya?ml|BUILD(\.bazel)?|WORKSPACE(\.bazel)?|MODULE\.bazel|BUCK|pants\.toml|nx\.json|turbo\.jsonc?|project\.json|Dockerfile[\w.-]*|(docker-)?compose[\w.-]*\.ya?ml|\.env[\w.-]*|\.npmrc|\.nvmrc|\.node-version|\.python-version|\.ruby-version|\.tool-versions|rust-toolchain(\.toml)?|config\.toml)$/,
  },
  {
    why: 'shared test set-up, used by tests without naming it',
    pattern:
      /(^|\/)(conftest\.py|(spec|test|rails)_helper\.(rb|exs)|setup[-_.]?tests?\.\w+|(jest|vitest|mocha|test)[-_.]?setup\.\w+|test_helper\.(sh|bash)|setup_suite\.bash|Pest\.php|TestCase\.php|bootstrap\.php)$|(^|\/)__mocks__\//,
  },
  {
    why: 'test data or a snapshot, read by tests without naming it in code',
    pattern:
      /(^|\/)(fixtures?|__fixtures__|testdata|test-data|test_data|golden|goldens|__snapshots__|cassettes|samples)\/|\.snap$/,
  },
  {
    why: 'a template, read at run time',
    pattern:
      /\.(hbs|handlebars|mustache|ejs|pug|jade|liquid|njk|jinja2?|j2|tmpl|tpl|gotmpl|erb|haml|slim|twig|blade\.php|mako|ftl|jsp|cshtml|razor|heex|eex|leex)$|(^|\/)templates\/.*\.(html?|txt|xml)$/,
  },
  {
    why: 'a schema, migration or generated interface',
    pattern: /\.(sql|prisma|proto|graphql|gql|thrift|avsc|xsd|fbs|capnp)$/,
  },
  {
    why: 'data, read at run time',
    pattern:
      /\.(json5?|jsonc|ya?ml|toml|ini|csv|tsv|xml|properties|conf|cfg|txt|html?|css|s[ac]ss|less|po|pot|mo|wasm|db|sqlite3?|bin|dat|pem|crt|key|svg|png|jpe?g|gif|webp|ico|pdf|zip|gz)$/,
  },
];

/** Documents and editor settings change no test. A text that is read by a program lies elsewhere than these. */
const NO_CODE =
  /(^|\/)(README|CHANGELOG|CHANGES|HISTORY|CONTRIBUTING|LICENSE|LICENCE|COPYING|AUTHORS|CODEOWNERS|CODE_OF_CONDUCT|SECURITY|NOTICE|AGENTS|CLAUDE|TODO)(\.\w+)?$|\.(md|mdx|rst|adoc)$|^(\.github|\.vscode|\.idea|\.devcontainer|\.husky|\.circleci)\/|(^|\/)\.(gitignore|gitattributes|editorconfig|prettierrc(\.\w+)?|eslintrc(\.\w+)?|dockerignore|mailmap|gitkeep)$|^docs?\//;

export interface Outside {
  readonly path: string;
  readonly why: string;
}

/** The changed paths whose effect no graph knows, with why; empty when all of them are code or documents. */
export function outsideOf(paths: readonly string[]): readonly Outside[] {
  return paths.flatMap((path) => {
    if (NO_CODE.test(path)) return [];
    const rule = OUTSIDE.find(({ pattern }) => pattern.test(path));
    return rule ? [{ path, why: rule.why }] : [];
  });
}

/** Whether nothing but documents changed. */
export function onlyDocuments(paths: readonly string[]): boolean {
  return paths.length > 0 && paths.every((path) => NO_CODE.test(path));
}

const TEST_PATH =
  /(^|\/)(tests?|specs?|__tests__|e2e|t)\/.*\.\w+$|(^|\/)(test_[^/]+|[^/]+[._-](test|tests|spec|specs))\.\w+$|(^|\/)[^/]*(Test|Tests|Spec|IT)\.(java|kt|scala|groovy|cs|fs|php|swift)$|\.(bats|t)$/;
const NO_TEST =
  /(^|\/)(conftest\.py|__init__\.py|fixtures?|__fixtures__|helpers?|support|testdata)(\/|\.|$)|_helper\.\w+$/;

/** Whether a path is a test file by the conventions of its language: changed and new tests are run first. */
export function isTestPath(path: string): boolean {
  return TEST_PATH.test(path) && !NO_TEST.test(path) && outsideOf([path]).length === 0;
}

/** Languages whose tests stand in the sources that they test. */
const TESTS_WITHIN = /\.(rs|zig)$/;

/** Whether tests may stand in a file: a test file, or a source of a language that keeps them there. */
export function holdsTests(path: string): boolean {
  return isTestPath(path) || TESTS_WITHIN.test(path);
}
