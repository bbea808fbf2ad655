import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../../client/client.ts';
import { explainFileError } from '../../core/file-errors.ts';
import { joinSome } from '../../core/text.ts';
import type { ResultOf } from '../../operations/index.ts';
import { bringLargeFiles } from '../../workspaces/bring-large-files.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { openClient } from '../reach/connect.ts';
import { gitAt, gitIn, streamGit } from '../reach/git.ts';
import type { UserGit } from '../reach/git.ts';
import { requirePlace } from '../reach/place.ts';
import { Refusal } from '../show/errors.ts';
import { clean, fold } from '../show/text.ts';
import { sizeOf } from '../show/work-size.ts';
import { print, toJson, warn } from '../show/write.ts';

type Work = ResultOf<'work.show'>;
type Compared = ResultOf<'work.diff'>;

/** A patch, and what it is made from. */
interface Patch {
  readonly depot: string;
  /** What comes before git's output: the head of a mail, if no commit has one. */
  readonly head: string;
  readonly args: readonly string[];
}

interface Given {
  readonly teamId: string;
  readonly of?: string;
  readonly output?: string;
}

/** Nothing in the user's settings may turn the patch into something that git cannot read back. */
const PLAIN = ['--binary', '--full-index', '--no-color', '--no-ext-diff', '--no-textconv'];

const AS_COMMITTED = ['format-patch', '--stdout', '--no-cover-letter', '--no-attach', '--no-thread', '--zero-commit'];

/** Git makes no mails of merges, and the commits beside them are not what landed. */
const AS_MERGED = [
  'log',
  '--reverse',
  '--pretty=mboxrd',
  '--first-parent',
  '--diff-merges=first-parent',
  '--patch-with-stat',
  '--no-show-signature',
  '--no-notes',
  '--no-decorate',
  '--no-mailmap',
];

/** Writes what landed, or what a task or a member changed, as mails that `git am` and `git apply` take. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { teamId, of, output } = given.input as unknown as Given;
  if (output !== undefined) requirePlace(output);
  const client = openClient(environment);
  try {
    const work = await client.call('work.show', { teamId }, { signal });
    if (work.workspaces === 'shared') {
      throw new Refusal('conflict', `The members of team ${teamId} share a folder: use git diff there`);
    }
    const asked = { teamId, stat: true, ...(of !== undefined && { of: of.replace(/^#/, '') }) };
    const compared = await client.call('work.diff', asked, { signal });
    if (compared.files === 0) throw new Refusal('not_found', `There is nothing in it: ${compared.title}`);
    const patch = await planPatch(client, { work, compared, of: asked.of, teamId, environment });
    const { from, to, files, added, removed, title } = compared;
    const large = listLargeFiles(gitAt(patch.depot, environment), compared);
    if (large.length > 0) warn(fold(await bringLarge(work, large, environment), screen));
    const about = { team: teamId, title, from, to, files, added, removed };
    if (output === undefined && given.json) {
      const { out } = gitAt(patch.depot, environment)(patch.args, { trim: false });
      print(toJson({ ...about, patch: patch.head + out }, screen.isTerminal ? 2 : undefined));
      return 0;
    }
    await writePatch(patch, output, environment);
    if (output === undefined) return 0;
    if (given.json) print(toJson({ ...about, file: output }, screen.isTerminal ? 2 : undefined));
    else print(fold(`Wrote ${clean(output)}: ${clean(title)}, ${sizeOf(compared)}. To use it: git am FILE\n`, screen));
    return 0;
  } finally {
    client.close();
  }
}

/** The files of git-lfs that a patch changes: it has their pointers, as every commit does. */
function listLargeFiles(git: UserGit, { from, to }: Compared): string[] {
  const found = git(['diff-tree', '-r', '-z', '--name-only', '--no-renames', '-G^oid sha256:[0-9a-f]{64}$', from, to], {
    trim: false,
  });
  return found.out.split('\0').filter(Boolean);
}

/** Gives the user's repository the content that these pointers name, and says where the patch can be used. */
async function bringLarge(
  { repository, depot = '' }: Work,
  paths: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<string> {
  const names = joinSome(paths.map(clean), ', ');
  const what = `troupe: ${names} ${paths.length === 1 ? 'is' : 'are'} stored by git-lfs, and the patch has only the pointers. `;
  const elsewhere = 'For another repository, use troupe pr, or push their content from here with git lfs push --all.';
  if (repository === undefined) return `${what}Their content is in ${clean(join(depot, 'lfs'))}.\n`;
  await bringLargeFiles(gitIn(repository, environment), { repository, depot });
  return `${what}Their content is in ${clean(repository)} now, so git am works there. ${elsewhere}\n`;
}

async function planPatch(
  client: Client,
  {
    work,
    compared: { from, to },
    of,
    teamId,
    environment,
  }: {
    work: Work;
    compared: Compared;
    of: string | undefined;
    teamId: string;
    environment: NodeJS.ProcessEnv;
  },
): Promise<Patch> {
  const { depot = '', tasks = [], repository = '' } = work;
  const task = tasks.find(({ taskId }) => taskId === of);
  if (of === undefined || task?.state === 'landed') {
    const range = `${from}..${to}`;
    const merges = gitAt(depot, environment)(['rev-list', '--count', '--first-parent', '--merges', range]);
    const words = Number(merges.out) > 0 ? AS_MERGED : AS_COMMITTED;
    return { depot, head: '', args: [...words, ...PLAIN, range] };
  }
  // Saves are merges for git, which it makes no mails of.
  const subject = task ? (await client.call('task.show', { teamId, taskId: task.taskId })).title : `Work of ${of}`;
  const person = gitIn(repository, environment)(['var', 'GIT_AUTHOR_IDENT']);
  const author = person.code === 0 ? person.out.replace(/ \d+ [+-]\d{4}$/, '') : 'Troupe <troupe@troupe.invalid>';
  const head = [
    `From ${to} Mon Sep 17 00:00:00 2001`,
    `From: ${author}`,
    `Date: ${new Date().toUTCString().replace('GMT', '+0000')}`,
    `Subject: [PATCH] ${clean(subject)}`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=UTF-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    ...(task ? [`Task-Id: ${task.taskId}`] : []),
    `Team: ${teamId}`,
    '---',
    '',
  ];
  return { depot, head: `${head.join('\n')}\n`, args: ['diff-tree', '-r', '--patch', ...PLAIN, from, to] };
}

async function writePatch(patch: Patch, output: string | undefined, environment: NodeJS.ProcessEnv): Promise<void> {
  const file = output === undefined ? 1 : openOutput(output);
  try {
    await streamGit(patch.depot, environment, { args: patch.args, file, head: patch.head });
  } finally {
    if (output !== undefined) closeSync(file);
  }
}

function openOutput(path: string): number {
  try {
    return openSync(path, 'w');
  } catch (error) {
    throw explainFileError(error, path, 'write');
  }
}
