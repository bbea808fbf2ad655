import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../../../agents/program.ts';
import { gitIn } from '../../reach/git.ts';

/** What a folder shows about its project. Every command in it is one of ours: nothing of a file's text becomes part of one. */
export interface Project {
  /** What it calls itself. It comes from a file of the project, so it may be any text. */
  readonly name?: string;
  /** The language or tool, as people call it. */
  readonly kind?: string;
  /** The file that says how tests are run. */
  readonly source?: string;
  /** The command that runs the tests. */
  readonly check?: string;
  /** The program of that command, if it is not installed here. */
  readonly missing?: string;
  /** The command that makes a fresh copy of the repository ready for them. */
  readonly setup?: string;
  /** Whether it is in a git repository, so that members can have copies of it. */
  readonly isRepository: boolean;
}

/** Looks at the files of a project. It runs nothing of it, and reads only small, ordinary files. */
export function lookAtProject(folder: string, environment: NodeJS.ProcessEnv): Project {
  const found = WAYS.map((way) => way(folder)).find((one) => one !== undefined);
  const name = findName(folder);
  const [program = ''] = (found?.check ?? '').split(' ');
  const isMissing = program !== '' && findProgram(program, { cwd: folder, env: environment }) === undefined;
  return {
    ...(name !== undefined && { name }),
    ...found,
    ...(isMissing && { missing: program }),
    isRepository: isInRepository(folder, environment),
  };
}

/** Why the tests cannot run here. */
export function wordMissing(program: string): string {
  return program.includes('/') ? `${program} is not executable` : `${program} is not on the PATH`;
}

/** How its tests are run. */
type Tests = Omit<Project, 'isRepository' | 'name' | 'missing'>;

type Way = (folder: string) => Tests | undefined;

/** How projects of each kind run their tests. The first that fits is taken. */
const WAYS: readonly Way[] = [
  lookAtPackage,
  whenThere('Cargo.toml', { kind: 'Rust', check: 'cargo test' }),
  whenThere('go.mod', { kind: 'Go', check: 'go test ./...' }),
  lookForPytest,
  whenThere('deno.json', { kind: 'Deno', check: 'deno test' }),
  whenThere('mix.exs', { kind: 'Elixir', check: 'mix test', setup: 'mix deps.get' }),
  whenThere('gradlew', { kind: 'Gradle', check: './gradlew test' }),
  whenThere('mvnw', { kind: 'Maven', check: './mvnw -q test' }),
  whenThere('pom.xml', { kind: 'Maven', check: 'mvn -q test' }),
  whenThere('Makefile', { kind: 'make', check: 'make test' }, /^test:/m),
];

function whenThere(file: string, found: Omit<Tests, 'source'>, needs?: RegExp): Way {
  return (folder) => {
    const text = readSmall(join(folder, file));
    return text !== undefined && (needs?.test(text) ?? true) ? { ...found, source: file } : undefined;
  };
}

/** The managers of Node packages, by their lock files. */
const MANAGERS: readonly { name: string; locks: readonly string[]; test: string; exact: string; install: string }[] = [
  {
    name: 'pnpm',
    locks: ['pnpm-lock.yaml'],
    test: 'pnpm test',
    exact: 'pnpm install --frozen-lockfile',
    install: 'pnpm install',
  },
  { name: 'yarn', locks: ['yarn.lock'], test: 'yarn test', exact: 'yarn install', install: 'yarn install' },
  {
    name: 'bun',
    locks: ['bun.lock', 'bun.lockb'],
    // `bun test` is another program than the script of that name.
    test: 'bun run test',
    exact: 'bun install --frozen-lockfile',
    install: 'bun install',
  },
  {
    name: 'npm',
    locks: ['package-lock.json', 'npm-shrinkwrap.json'],
    test: 'npm test',
    exact: 'npm ci',
    install: 'npm install',
  },
];

function lookAtPackage(folder: string): Tests | undefined {
  const text = readSmall(join(folder, 'package.json'));
  const about = text === undefined ? undefined : parseObject(text);
  const script = asObject(about?.['scripts'])?.['test'];
  // The second is what `npm init` writes: it always fails.
  if (typeof script !== 'string' || script.trim() === '' || script.includes('no test specified')) return undefined;
  const named = about?.['packageManager'];
  const hasLock = ({ locks }: { locks: readonly string[] }): boolean =>
    locks.some((lock) => existsSync(join(folder, lock)));
  const manager =
    MANAGERS.find(({ name }) => typeof named === 'string' && named.startsWith(`${name}@`)) ??
    MANAGERS.find(hasLock) ??
    MANAGERS.at(-1);
  if (!manager) return undefined;
  const needs = ['dependencies', 'devDependencies'].some((key) => Object.keys(asObject(about?.[key]) ?? {}).length > 0);
  const setup = hasLock(manager) ? manager.exact : needs ? manager.install : undefined;
  return { kind: 'Node.js', source: 'package.json', check: manager.test, ...(setup !== undefined && { setup }) };
}

function lookForPytest(folder: string): Tests | undefined {
  const says = ['pytest.ini', 'pyproject.toml', 'setup.cfg', 'tox.ini'].find((file) => {
    const text = readSmall(join(folder, file));
    return text !== undefined && (file === 'pytest.ini' || text.includes('pytest'));
  });
  if (says === undefined) return undefined;
  const runner = existsSync(join(folder, 'uv.lock'))
    ? 'uv run '
    : existsSync(join(folder, 'poetry.lock'))
      ? 'poetry run '
      : '';
  const setup = runner === 'poetry run ' ? { setup: 'poetry install' } : {};
  return { kind: 'Python', source: says, check: `${runner}pytest`, ...setup };
}

/** Files of a project that say something about it are small. */
const MOST_BYTES = 1024 * 1024;

/** The text of an ordinary file of at most 1 MB. A pipe of that name would never end, and a device never stop. */
function readSmall(path: string): string | undefined {
  try {
    const about = statSync(path);
    return about.isFile() && about.size <= MOST_BYTES ? readFileSync(path, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return asObject(JSON.parse(text.replace(/^\uFEFF/, '')));
  } catch {
    return undefined;
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}

/** The name in the project's own file. */
function findName(folder: string): string | undefined {
  const named = parseObject(readSmall(join(folder, 'package.json')) ?? '')?.['name'];
  if (typeof named === 'string' && named !== '') return named;
  const tables = [
    { file: 'pyproject.toml', table: /^\[(?:project|tool\.poetry)\]/ },
    { file: 'Cargo.toml', table: /^\[package\]/ },
  ];
  return tables
    .map(({ file, table }) => nameIn(readSmall(join(folder, file)) ?? '', table))
    .find((name) => name !== undefined);
}

/** The `name` in a table of a TOML file. */
function nameIn(text: string, table: RegExp): string | undefined {
  let isIn = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('[')) isIn = table.test(line);
    const [, name] = (isIn && /^name\s*=\s*["']([^"']+)["']/.exec(line)) || [];
    if (name !== undefined) return name;
  }
  return undefined;
}

/** Git itself knows: a folder named `.git` alone is no repository. Without git, members share a folder anyway. */
function isInRepository(folder: string, environment: NodeJS.ProcessEnv): boolean {
  try {
    return gitIn(folder, environment)(['rev-parse', '--show-toplevel']).code === 0;
  } catch {
    return false;
  }
}
