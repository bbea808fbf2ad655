import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What a folder shows about its project. Every command in it is one of ours: nothing of a file's text becomes part of one. */
export interface Project {
  /** The language or tool, as people call it. */
  readonly kind?: string;
  /** The file that says how tests are run. */
  readonly source?: string;
  /** The command that runs the tests. */
  readonly check?: string;
  /** The command that makes a fresh copy of the repository ready for them. */
  readonly setup?: string;
  /** Whether it is in a git repository, so that members can have copies of it. */
  readonly isRepository: boolean;
}

/** Looks at the files of a project. It runs nothing, and reads only small, ordinary files. */
export function lookAtProject(folder: string): Project {
  const found = WAYS.map((way) => way(folder)).find((one) => one !== undefined);
  return { ...found, isRepository: isInRepository(folder) };
}

type Way = (folder: string) => Omit<Project, 'isRepository'> | undefined;

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

function whenThere(file: string, found: Omit<Project, 'isRepository' | 'source'>, needs?: RegExp): Way {
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

function lookAtPackage(folder: string): Omit<Project, 'isRepository'> | undefined {
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

function lookForPytest(folder: string): Omit<Project, 'isRepository'> | undefined {
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

/** A worktree has a file of that name. */
function isInRepository(folder: string): boolean {
  if (existsSync(join(folder, '.git'))) return true;
  const above = dirname(folder);
  return above !== folder && isInRepository(above);
}
