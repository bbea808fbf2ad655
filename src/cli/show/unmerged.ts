import { shellWord } from '../../core/shell.ts';
import type { ResultOf } from '../../operations/index.ts';
import { clean } from './text.ts';
import { taskName } from './words.ts';
import { sizeOf } from './work-size.ts';

/** The team, whether its branch is merged, and whether it is gone already. */
interface About {
  readonly teamId: string;
  readonly isMerged: boolean;
  readonly isDeleted?: boolean;
}

/** Work that only Troupe has, and the command that brings it to the user. */
export interface Unmerged {
  readonly what: string;
  readonly save?: string;
}

/** Names the work of a team that is on no branch of the user; empty if all is merged. */
export function wordUnmerged(work: ResultOf<'work.show'>, about: About): string {
  const found = listUnmerged(work, about);
  if (found.length === 0) return '';
  const where = about.isDeleted
    ? 'It is kept: troupe work clean lists it.'
    : 'After the team is deleted, troupe work clean lists it.';
  return `${showUnmerged(found)}${where}\n`;
}

/** A list of such work. Each command has a line of its own, to be copied. */
export function showUnmerged(found: readonly Unmerged[]): string {
  const lines = found.map(({ what, save }) => `  ${clean(what)}\n${save === undefined ? '' : `    ${clean(save)}\n`}`);
  const how = found.some(({ save }) => save !== undefined) ? ', with the command that saves it' : '';
  return `Never merged${how}:\n${lines.join('')}`;
}

/** One such work in a sentence, for programs. */
export function wordOne({ what, save }: Unmerged): string {
  return save === undefined ? what : `${what}. To save it: ${save}`;
}

/** The command that makes a branch of work that a repository of ours holds. */
export function fetchCommand(from: { path: string; ref: string; name: string; into?: string | undefined }): string {
  const at = from.into === undefined ? '' : `-C ${shellWord(from.into)} `;
  return `git ${at}fetch ${shellWord(from.path)} ${shellWord(`${from.ref}:refs/heads/${from.name}`)}`;
}

/** The work of a team that is on no branch of the user. After the team is deleted, no command of Troupe saves it. */
export function listUnmerged(work: ResultOf<'work.show'>, { teamId, isMerged, isDeleted = false }: About): Unmerged[] {
  const { branch = '', base, tip, repository, depot, tasks = [], members = [], kept = [] } = work;
  const save = (command: string | undefined): { save?: string } =>
    isDeleted || command === undefined ? {} : { save: command };
  const patch = (of: string): { save?: string } => save(`troupe patch ${of} --team ${teamId} -o ${teamId}-${of}.patch`);
  return [
    ...(tip === base || isMerged
      ? []
      : [
          {
            what: `${branch}: ${sizeOf(work)} that no other branch of ${repository ?? 'yours'} has`,
            ...save(`troupe merge --team ${teamId}`),
          },
        ]),
    ...tasks
      .filter(({ state }) => state === 'conflicted')
      .map((task) => ({
        what: `task ${taskName(task.taskId)} of ${task.memberId}: ${sizeOf(task)}, which conflict with the branch`,
        ...patch(task.taskId),
      })),
    ...members
      .filter(({ files }) => files > 0)
      .map((member) => ({ what: `${member.memberId}: ${sizeOf(member)}, not handed in`, ...patch(member.memberId) })),
    ...kept.map(({ memberId, commit, ref }) => ({
      what: `${memberId}: ${commit.slice(0, 7)}, put away earlier`,
      ...save(
        depot &&
          fetchCommand({
            path: depot,
            ref,
            name: `kept/${teamId}-${memberId}-${commit.slice(0, 7)}`,
            into: repository,
          }),
      ),
    })),
  ];
}
