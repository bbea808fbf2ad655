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

/** Names the work of a team that is on no branch of the user; empty if all is merged. */
export function wordUnmerged(work: ResultOf<'work.show'>, about: About): string {
  const lines = listUnmerged(work, about);
  if (lines.length === 0) return '';
  const listed = lines.map((line) => `  ${clean(line)}\n`).join('');
  const where = about.isDeleted
    ? 'It is kept: troupe work clean lists it.'
    : 'After the team is deleted, troupe work clean lists it.';
  return `Never merged:\n${listed}${where}\n`;
}

/** The same, as a list. */
export function listUnmerged(work: ResultOf<'work.show'>, { teamId, isMerged, isDeleted = false }: About): string[] {
  const { branch = '', base, tip, repository = '', tasks = [], members = [], kept = [] } = work;
  return [
    ...(tip === base || isMerged
      ? []
      : [
          `${branch}: ${sizeOf(work)} that no other branch of ${repository} has.${isDeleted ? '' : ` To merge it first: troupe merge --team ${teamId}`}`,
        ]),
    ...tasks
      .filter(({ state }) => state === 'conflicted')
      .map(
        (task) => `task ${taskName(task.taskId)} of ${task.memberId}: ${sizeOf(task)}, which conflict with the branch`,
      ),
    ...members.filter(({ files }) => files > 0).map((member) => `${member.memberId}: ${sizeOf(member)}, not handed in`),
    ...kept.map(({ memberId, commit }) => `${memberId}: ${commit.slice(0, 7)}, put away earlier`),
  ];
}
