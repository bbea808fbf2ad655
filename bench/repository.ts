import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { findCheckout } from '../src/workspaces/checkout.ts';
import type { Checkout } from '../src/workspaces/checkout.ts';
import { cloneWorkspaces } from '../src/workspaces/clone.ts';
import { openDepot } from '../src/workspaces/depot.ts';
import type { Depot } from '../src/workspaces/depot.ts';
import { openGit } from '../src/workspaces/git.ts';
import { openPlaces } from '../src/workspaces/places.ts';
import type { Workspaces } from '../src/workspaces/workspace.ts';

/** A repository with its workspaces. */
export interface Repository {
  readonly checkout: Checkout;
  readonly workspaces: Workspaces;
  readonly depot: Depot;
  /** The path of a file in it. */
  readonly path: (number: number) => string;
}

const LINES = 60;

/** Makes a repository of `files` files of 60 lines in 100 folders, with 10 later commits, and opens its workspaces. */
export async function makeRepository(folder: string, files: number): Promise<Repository> {
  const { project, path } = makeProject(folder, files);
  const environment = { PATH: process.env['PATH'], HOME: folder };
  const git = openGit({ environment });
  const places = await openPlaces(join(folder, 'state'), { endLeftovers: async () => {} });
  const checkout = await findCheckout(git, project, environment);
  if ('reason' in checkout) throw new Error(checkout.why);
  const depot = await openDepot({ git, places, checkout });
  return { checkout, workspaces: cloneWorkspaces({ places, depot, checkout }), depot, path };
}

/** The same without its workspaces. */
export function makeProject(folder: string, files: number): { project: string } & Pick<Repository, 'path'> {
  const project = join(folder, 'project');
  mkdirSync(project);
  const path = (i: number): string => `d${i % 100}/file-${i}.ts`;
  plainGit(project, ['init', '-q', '-b', 'main']);
  importFiles(project, files, path);
  plainGit(project, ['reset', '-q', '--hard']);
  return { project, path };
}

/** Runs git in a folder, with no settings but its own. Its input is nothing, or an open file. */
export function plainGit(folder: string, args: readonly string[], input: 'ignore' | number = 'ignore'): void {
  const env = { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  execFileSync('git', args, { cwd: folder, env, stdio: [input, 'ignore', 'pipe'] });
}

/** Imports the files from a stream on the disk: in memory, it would make each later start of a process slower. */
function importFiles(project: string, files: number, path: (i: number) => string): void {
  const stream = join(project, '.git', 'stream');
  const writer = openSync(stream, 'w');
  for (const part of makeStream(files, path)) writeSync(writer, part);
  closeSync(writer);
  const reader = openSync(stream, 'r');
  plainGit(project, ['fast-import', '--quiet'], reader);
  closeSync(reader);
  rmSync(stream);
}

function* makeStream(files: number, path: (i: number) => string): Generator<string> {
  for (let number = 0; number <= 10; number++) {
    yield `commit refs/heads/main\ncommitter A <a@example.com> ${1_700_000_000 + number} +0000\ndata 1\nx\n`;
    for (const i of number === 0 ? Array(files).keys() : [number % files]) {
      const text = `export const line = '${i} of ${number}';\n`.repeat(LINES);
      yield `M 644 inline ${path(i)}\ndata ${text.length}\n${text}\n`;
    }
  }
}
