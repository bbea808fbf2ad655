import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, onTestFinished } from 'vitest';
import { openDaemon } from './open-daemon.ts';
import type { Stage, StageOptions } from './open-daemon.ts';

export type { Stage } from './open-daemon.ts';

/** The environment of plain git in tests: no settings of the person who runs them. */
export function plainEnvironment(home: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
  };
}

/** Runs plain git in a folder, as its user would; returns its trimmed output. */
export function plainGit(folder: string, ...args: string[]): string {
  const options = { cwd: folder, env: plainEnvironment(dirname(folder)), encoding: 'utf8', stdio: 'pipe' } as const;
  return execFileSync('git', args, options).trim();
}

/** Writes files, by path. */
export function write(folder: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** Commits everything in a folder with plain git; returns the id. */
export function commitAll(folder: string, message = 'more'): string {
  plainGit(folder, 'add', '-A');
  plainGit(folder, 'commit', '-q', '--allow-empty', '-m', message);
  return plainGit(folder, 'rev-parse', 'HEAD');
}

/** Repositories that this process has made, and their first commits, by their files. */
const made = new Map<string, { readonly id: string; readonly folder: string }>();

/**
 * A new repository with one commit. In an empty folder it is a copy of one that was made before: git would start five
 * times to make it.
 */
export function makeRepository(folder: string, files: Readonly<Record<string, string>> = FILES): string {
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).length > 0) return begin(folder, files);
  const key = JSON.stringify(files);
  const like = made.get(key) ?? makeTemplate(files);
  made.set(key, like);
  copyFolder(like.folder, folder);
  return like.id;
}

function begin(folder: string, files: Readonly<Record<string, string>>): string {
  plainGit(folder, 'init', '-q', '-b', 'main');
  write(folder, files);
  return commitAll(folder, 'first');
}

function makeTemplate(files: Readonly<Record<string, string>>): { id: string; folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-template-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const id = begin(folder, files);
  // Of a file in a copy only size and second are the same.
  plainGit(folder, 'config', 'core.checkStat', 'minimal');
  plainGit(folder, 'config', 'core.trustctime', 'false');
  rmSync(join(folder, '.git/hooks'), { recursive: true, force: true });
  mkdirSync(join(folder, '.git/hooks'));
  return { id, folder };
}

/** Copies a folder with the times of its files, so that git finds them unchanged. */
export function copyFolder(from: string, to: string): void {
  cpSync(from, to, { recursive: true, preserveTimestamps: true });
}

const FILES = {
  '.gitignore': 'node_modules/\n.env\n*.log\n',
  'README.md': 'A project\n',
  'src/a.ts': 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n',
  'src/b.ts': 'export const b = 1;\n',
  'docs/guide.md': 'Read this.\n',
};

/** Opens the depot and the workspaces of a project; of a new one, if none is named. */
export function openStage(options: Partial<StageOptions> = {}): Promise<Stage> {
  return openDaemon({ ...options, root: options.root ?? newProject() });
}

/** A stage for all tests of a file that change neither the checkout nor the depot. Each takes a member of a team of its own. */
export function shareStage(open: () => Promise<Stage> = () => openStage({ root: newProject({ lasting: true }) })) {
  let stage: Stage;
  let teams = 0;
  beforeAll(async () => {
    stage = await open();
    return () => rmSync(stage.root, { recursive: true, force: true, maxRetries: 5 });
  });
  return () => ({ ...stage, name: { team: `team-${++teams}`, member: 'ada' } });
}

/** A folder with a repository in `project`. A lasting one is for several tests, which remove it. */
export function newProject({
  files,
  lasting = false,
}: { files?: Record<string, string>; lasting?: boolean } = {}): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-test-')));
  if (!lasting) onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  makeRepository(join(root, 'project'), files);
  return root;
}

/** All files under a folder with their contents, links with their targets; `skip` leaves some names out. */
export function contents(folder: string, skip: readonly string[] = ['.git']): Record<string, string> {
  const found: Record<string, string> = {};
  const look = (inside: string): void => {
    for (const entry of readdirSync(join(folder, inside), { withFileTypes: true })) {
      const path = join(inside, entry.name);
      if (skip.includes(entry.name)) continue;
      if (entry.isDirectory()) look(path);
      else if (entry.isSymbolicLink()) found[path] = `-> ${readlinkSync(join(folder, path))}`;
      else if (entry.isFile()) found[path] = readFileSync(join(folder, path), 'latin1');
    }
  };
  look('');
  return found;
}
