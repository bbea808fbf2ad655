/** A language that gets colours. */
export type LanguageName = keyof typeof ENDINGS;

/** The endings of names, and whole names, of each language; in lower case. */
const ENDINGS = {
  bash: 'sh bash zsh',
  c: 'c h',
  cpp: 'cc cpp cxx hh hpp hxx',
  csharp: 'cs',
  css: 'css',
  dart: 'dart',
  diff: 'diff patch',
  dockerfile: 'dockerfile',
  elixir: 'ex exs',
  go: 'go',
  graphql: 'graphql gql',
  haskell: 'hs',
  ini: 'ini toml cfg conf properties',
  java: 'java',
  javascript: 'js jsx mjs cjs',
  json: 'json jsonc json5',
  kotlin: 'kt kts',
  less: 'less',
  lua: 'lua',
  makefile: 'mk makefile',
  markdown: 'md mdx markdown',
  nginx: 'nginx',
  perl: 'pl pm',
  php: 'php',
  powershell: 'ps1 psm1',
  protobuf: 'proto',
  python: 'py pyi',
  r: 'r',
  ruby: 'rb gemfile rakefile',
  rust: 'rs',
  scala: 'scala sbt',
  scss: 'scss',
  sql: 'sql',
  swift: 'swift',
  typescript: 'ts tsx mts cts',
  xml: 'xml html htm svg vue svelte xhtml',
  yaml: 'yaml yml',
} as const;

const BY_ENDING = new Map(
  Object.entries(ENDINGS).flatMap(([language, endings]) =>
    endings.split(' ').map((ending) => [ending, language as LanguageName] as const),
  ),
);

/** The language of a file, by its name. */
export function languageOf(path: string): LanguageName | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return BY_ENDING.get(name.slice(name.lastIndexOf('.') + 1));
}
