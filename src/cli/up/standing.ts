import type { Client } from '../../client/client.ts';
import type { ResultOf } from '../../operations/index.ts';

/** Where a team stands, and why it would go no further. */
export interface Standing {
  readonly seq: number;
  readonly tasks: ResultOf<'task.list'>;
  readonly members: ResultOf<'member.list'>;
  readonly requests: ResultOf<'request.list'>;
  readonly reason: 'done' | 'stuck' | 'person' | undefined;
}

/** Asks where a team stands. */
export async function look(client: Client, teamId: string): Promise<Standing> {
  const [{ team, seq, pendingRequests }, tasks] = await Promise.all([
    client.call('team.status', { teamId }),
    client.call('task.list', { teamId }),
  ]);
  const { members } = team;
  const requests = pendingRequests.filter(({ kind }) => kind !== 'shutdown');
  return { seq, tasks, members, requests, reason: reasonToEnd(tasks, members, requests, team.leadId) };
}

function reasonToEnd(
  tasks: Standing['tasks'],
  members: Standing['members'],
  requests: Standing['requests'],
  leadId: string,
): Standing['reason'] {
  const lead = members.find(({ id }) => id === leadId);
  const leadWorks = lead?.agent !== undefined && lead.status !== 'idle' && lead.status !== 'stopped';
  if (!leadWorks && tasks.every(({ status }) => status === 'completed')) return 'done';
  const isBusy = ({ agent, status, returning }: Standing['members'][number]): boolean =>
    agent !== undefined && (status === 'stopped' ? returning === true : status !== 'idle');
  if (members.some(isBusy)) return undefined;
  return requests.length > 0 ? 'person' : 'stuck';
}
