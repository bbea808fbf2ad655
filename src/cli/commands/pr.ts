import { spawnSync } from 'node:child_process';
import { findProgram } from '../../agents/program.ts';
import type { Client } from '../../client/client.ts';
import { shortId } from '../../core/commit-id.ts';
import { shellWord } from '../../core/shell.ts';
import { oneLine } from '../../core/text.ts';
import type { ResultOf } from '../../operations/index.ts';
import { bringLargeFiles } from '../../workspaces/bring-large-files.ts';
import { withoutPlace } from '../../workspaces/users-git.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { findCheckout } from '../reach/checkout.ts';
import { openClient } from '../reach/connect.ts';
import { gitIn } from '../reach/git.ts';
import type { UserGit } from '../reach/git.ts';
import { Refusal } from '../show/errors.ts';
import { clean, fold } from '../show/text.ts';
import { sizeOf } from '../show/work-size.ts';
import { print, toJson } from '../show/write.ts';

type Work = ResultOf<'work.show'>;

interface Given {
  readonly teamId: string;
  readonly remote?: string;
  readonly base?: string;
  readonly title?: string;
  readonly draft?: boolean;
}

/** What people read about the work. */
interface Words {
  readonly title: string;
  readonly body: string;
}

/**
 * Pushes a team's branch with the user's own git, identity and credentials, and opens a pull request with `gh`. The
 * user's branches, index and files stay as they are: only objects are fetched, and the branch is pushed by its commit.
 */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { teamId, base, draft = false, ...wishes } = given.input as unknown as Given;
  const client = openClient(environment);
  try {
    const work = await client.call('work.show', { teamId }, { signal });
    requireLanded(work, teamId);
    const { branch = '', tip = '' } = work;
    const repository = await findCheckout(client, teamId, work);
    const git = gitIn(repository, environment);
    const remote = findRemote(git, wishes.remote);
    const words = await describePullRequest(client, { work, teamId, title: wishes.title });
    await bringLargeFiles(git, { repository, depot: work.depot ?? '' });
    const said = push(git, { work, remote });
    const options = [...(base === undefined ? [] : ['--base', base]), ...(draft ? ['--draft'] : [])];
    const args = ['pr', 'create', '--head', branch, ...options, '--title', words.title, '--body', words.body];
    const gh = findProgram('gh', { cwd: repository, env: environment });
    const about = { team: teamId, branch, remote, tip, ...words };
    if (gh === undefined) {
      const commands = [
        ['cd', repository],
        ['gh', ...args],
      ].map((line) => line.map(shellWord).join(' '));
      if (given.json) print(toJson({ ...about, commands }, screen.isTerminal ? 2 : undefined));
      else print(`${fold(pushed(work, remote), screen)}${said}${wordCommands(commands)}`);
      return 0;
    }
    const url = createPullRequest(gh, args, { repository, environment });
    if (given.json) print(toJson({ ...about, url }, screen.isTerminal ? 2 : undefined));
    else print(`${fold(pushed(work, remote), screen)}Pull request: ${clean(url)}\n`);
    return 0;
  } finally {
    client.close();
  }
}

function requireLanded({ workspaces, base, tip, branch = '' }: Work, teamId: string): void {
  if (workspaces === 'shared') {
    throw new Refusal('conflict', `The members of team ${teamId} share a folder: there is no branch to push`);
  }
  if (base === tip) {
    throw new Refusal('conflict', `Nothing has landed on ${branch} yet: troupe work --team ${teamId}`);
  }
}

function findRemote(git: UserGit, wanted: string | undefined): string {
  const remotes = git(['remote']).out.split('\n').filter(Boolean);
  const [only] = remotes;
  if (only === undefined) {
    throw new Refusal('conflict', 'The repository has no remote to push to: add one with git remote add origin URL');
  }
  if (wanted !== undefined) {
    if (remotes.includes(wanted)) return wanted;
    throw new Refusal('not_found', `The repository has no remote ${wanted}; these exist: ${remotes.join(', ')}`);
  }
  if (remotes.length === 1) return only;
  if (remotes.includes('origin')) return 'origin';
  throw new Refusal('invalid', `Say which remote: --remote NAME; these exist: ${remotes.join(', ')}`);
}

/** Pushes without force: a branch of that name that is somebody else's stays as it is. Returns what the server said. */
function push(git: UserGit, { work, remote }: { work: Work; remote: string }): string {
  const { branch = '', tip = '', depot = '' } = work;
  const ours = `refs/heads/${branch}`;
  const fetched = git(['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', depot, ours]);
  if (fetched.code !== 0) {
    throw new Refusal('conflict', `git refused, and nothing was pushed. It said:\n${fetched.said}`);
  }
  const pushing = git(['push', '--porcelain', remote, `${tip}:${ours}`]);
  if (pushing.code === 0) {
    const lines = pushing.said.split('\n').filter((line) => line.startsWith('remote: '));
    return lines.map((line) => `${clean(line)}\n`).join('');
  }
  // Git says why in the user's language.
  const [there = ''] = git(['ls-remote', remote, ours]).out.split('\t');
  if (there !== '' && git(['merge-base', '--is-ancestor', there, tip]).code !== 0) {
    throw new Refusal(
      'conflict',
      `${remote} has a branch ${branch} with commits that the team's does not have. Nothing was pushed. ` +
        `Rename or delete that branch first: git push ${remote} --delete ${branch}`,
    );
  }
  throw new Refusal('conflict', `git did not push ${branch} to ${remote}. It said:\n${pushing.said}`);
}

/** The title and the text of a pull request, from the tasks that landed. */
async function describePullRequest(
  client: Client,
  { work, teamId, title }: { work: Work; teamId: string; title: string | undefined },
): Promise<Words> {
  const { tasks = [] } = work;
  const landed = tasks.filter(({ state }) => state === 'landed');
  const { description } = await client.call('team.show', { teamId });
  const [only] = landed;
  const lines: string[] = [];
  for (const { taskId, title: name, memberId } of landed) {
    const { result = '' } = await client.call('task.show', { teamId, taskId });
    const first = oneLine(result.trim().split(/\n\s*\n/, 1)[0] ?? '', 500);
    lines.push(`- ${clean(name)} (task ${taskId}, ${memberId})${first === '' ? '' : `: ${first}`}`);
  }
  const missing = tasks.filter(({ state }) => state === 'conflicted');
  const note = missing.map(({ taskId, title: name }) => `- ${clean(name)} (task ${taskId})`);
  const body = [
    ...(description ? [clean(description), ''] : []),
    ...lines,
    ...(note.length > 0 ? ['', 'Not in it, because it conflicts:', ...note] : []),
  ];
  const own = landed.length === 1 && only ? only.title : description || `Work of team ${teamId}`;
  return { title: clean(title ?? own), body: body.join('\n') };
}

function createPullRequest(
  gh: string,
  args: readonly string[],
  { repository, environment }: { repository: string; environment: NodeJS.ProcessEnv },
): string {
  const done = spawnSync(gh, args, { cwd: repository, env: withoutPlace(environment), encoding: 'utf8' });
  if (done.error) throw new Refusal('unsupported', `gh cannot be run: ${done.error.message}`);
  if (done.status === 0) return done.stdout.trim().split('\n').at(-1) ?? '';
  const said = [done.stderr.trim(), done.stdout.trim()].filter(Boolean).join('\n');
  throw new Refusal('conflict', `The branch is pushed, but gh did not open a pull request. It said:\n${said}`);
}

function pushed(work: Work, remote: string): string {
  const { branch = '', base = '', tip = '' } = work;
  return `Pushed ${clean(branch)} to ${clean(remote)}: ${sizeOf(work)}, ${shortId(base)}..${shortId(tip)}.\n`;
}

function wordCommands(commands: readonly string[]): string {
  return `gh is not installed. To open the pull request where it is:\n\n${commands.map((line) => `${line}\n`).join('')}`;
}
