import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { TeamError } from '../../core/errors.ts';
import { explainFileError } from '../../core/file-errors.ts';
import type { ResultOf } from '../../operations/index.ts';
import { readPackage } from '../../runtime/team-package.ts';
import type { TeamPackage } from '../../runtime/team-package.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { openClient } from '../reach/connect.ts';
import { gitIn } from '../reach/git.ts';
import type { UserGit } from '../reach/git.ts';
import { Refusal } from '../show/errors.ts';
import { clean, fold } from '../show/text.ts';
import { print, toJson } from '../show/write.ts';

interface Given {
  readonly file: string;
  readonly rename?: string;
}

type Landed = NonNullable<TeamPackage['head']['work']>;

/** Takes in a team that `troupe export --journal` wrote on another machine. Nothing starts. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { file, rename } = given.input as unknown as Given;
  const path = resolve(file);
  const { head, bundle } = openPackage(path, file);
  const repository = head.work && findClone(head.work, environment);
  const git = repository === undefined ? undefined : gitIn(repository, environment);
  const undo = git && head.work && bundle.length > 0 ? bringBranch(git, head.work, bundle) : () => undefined;
  const client = openClient(environment);
  try {
    const asked = { file: path, ...(rename !== undefined && { rename }), ...(repository && { repository }) };
    const imported = await client.call('team.import', asked, { signal });
    if (given.json) {
      const told = { ...imported, ...(head.work && { branch: head.work.branch, repository }) };
      print(toJson(told, screen.isTerminal ? 2 : undefined));
    } else print(fold(wordImport(imported, head.work?.branch), screen));
    return 0;
  } catch (error) {
    undo();
    throw error;
  } finally {
    client.close();
  }
}

/** The file, checked before anything changes. The daemon checks it again. */
function openPackage(path: string, file: string): TeamPackage {
  try {
    return readPackage(readFileSync(path));
  } catch (error) {
    if (error instanceof TeamError) throw new Refusal(error.code, `${file}: ${error.message}`);
    throw explainFileError(error, file, 'read');
  }
}

/** The clone of the team's repository around the working directory. */
function findClone({ base }: Landed, environment: NodeJS.ProcessEnv): string {
  const git = gitIn(process.cwd(), environment);
  const top = git(['rev-parse', '--show-toplevel']);
  const isOne = top.code === 0 && git(['cat-file', '-e', `${base}^{commit}`]).code === 0;
  if (isOne) return top.out;
  throw new Refusal(
    'conflict',
    `The team works on a repository: run this in a clone of it that has the commit ${base.slice(0, 12)}`,
  );
}

/** Puts what landed on a branch of the clone. Returns a function that takes it back. */
function bringBranch(git: UserGit, { branch, tip }: Landed, bundle: Buffer): () => void {
  const ref = `refs/heads/${branch}`;
  if (git(['check-ref-format', ref]).code !== 0) {
    throw new Refusal('corrupt', 'The file names a branch that git refuses');
  }
  const before = git(['rev-parse', '--verify', '--quiet', ref]).out;
  if (before === tip) return () => undefined;
  if (before !== '') {
    throw new Refusal(
      'conflict',
      `The branch ${clean(branch)} is here already, with other work: rename or delete it first`,
    );
  }
  const folder = mkdtempSync(join(tmpdir(), 'troupe-import-'));
  const undo = (): void => void git(['update-ref', '-d', ref]);
  try {
    const file = join(folder, 'bundle');
    writeFileSync(file, bundle, { mode: 0o600 });
    const words = ['-c', 'fetch.fsckObjects=true', 'fetch', '--quiet', '--no-tags', '--no-write-fetch-head'];
    const got = git([...words, file, `${ref}:${ref}`]);
    if (got.code !== 0) throw new Refusal('corrupt', `git cannot take in the work of the file. It said:\n${got.said}`);
    if (git(['rev-parse', '--verify', '--quiet', ref]).out === tip) return undo;
    undo();
    throw new Refusal('corrupt', 'The file brings other work than it names');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function wordImport(
  { teamId, batches, isClosed, members, hooks, programs }: ResultOf<'team.import'>,
  branch: string | undefined,
): string {
  const lines = [
    `Imported team ${teamId}: ${batches.toLocaleString('en-US')} batches. Its ${members.length} members are stopped.`,
    branch === undefined ? '' : `What landed is on the branch ${clean(branch)} here.`,
    hooks === 0 ? '' : `Its hooks did not travel (${hooks}): register them again, or run troupe up with the team file.`,
    ...programs.map(({ memberId, command }) => `${memberId} would run: ${clean(command.join(' '))}`),
    isClosed
      ? `It is closed: it can be read, as with troupe report ${teamId}, but not changed.`
      : `To go on: troupe member restart NAME --team ${teamId}`,
  ];
  return `${lines.filter(Boolean).join('\n')}\n`;
}
