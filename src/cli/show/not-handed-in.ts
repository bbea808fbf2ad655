import type { Client } from '../../client/client.ts';
import type { ResultOf } from '../../operations/index.ts';
import { clean } from './text.ts';
import { sizeOf } from './work-size.ts';

type Work = ResultOf<'work.show'>;

/**
 * What members changed and did not hand in, which is on no branch: one line for each, with the commands that show and
 * keep it. An open team continues tasks that were begun, and conflicts are named with their tasks: both are left out.
 */
export function describeNotHandedIn(
  { workspaces, members = [], tasks = [] }: Pick<Work, 'workspaces' | 'members' | 'tasks'>,
  { teamId, isOpen }: { readonly teamId: string; readonly isOpen: boolean },
): string[] {
  if (workspaces !== 'own') return [];
  const isOfTask = (memberId: string): boolean =>
    tasks.some(
      (task) =>
        task.memberId === memberId &&
        (task.state === 'conflicted' || (isOpen && task.state !== 'landed' && task.state !== 'unchanged')),
    );
  return members
    .filter(({ memberId, files, taskId }) => files > 0 && taskId === undefined && !isOfTask(memberId))
    .map((member) => {
      const name = `${clean(member.memberId)} --team ${clean(teamId)}`;
      return `Not on the branch, because ${clean(member.memberId)} did not hand it in with a task: ${sizeOf(member)}. See it: troupe diff ${name}. Keep it: troupe patch ${name} | git am`;
    });
}

/** The same, as this machine has it. Work that cannot be looked at must not hide the rest of an answer. */
export async function findNotHandedIn(
  client: Client,
  { teamId, isOpen, signal }: { readonly teamId: string; readonly isOpen: boolean; readonly signal: AbortSignal },
): Promise<string[]> {
  const work = await client.call('work.show', { teamId }, { signal }).catch(() => undefined);
  return work ? describeNotHandedIn(work, { teamId, isOpen }) : [];
}
