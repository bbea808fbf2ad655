import type { Standing } from '../up/standing.ts';

/** What is left to say when a team has stopped working: the answer, or why there is none. */
export function describeEnd(
  standing: Standing,
  { taskId, said }: { taskId: string | undefined; said: string },
): string {
  const { reason, tasks, answer } = standing;
  const own = tasks.find(({ id }) => id === taskId);
  if (own?.status === 'completed') return own.result ?? `#${own.id} ${own.title}: done`;
  if (reason === 'done') return said === '' ? (answer ?? 'All tasks are completed.') : '';
  return ['The team cannot go on.', ...whyStuck(standing)].join('\n- ');
}

/** One line for each thing that is in the way. */
function whyStuck({ tasks, members, spent, requests, troubles }: Standing): string[] {
  const stopped = members.flatMap(({ id, agent, status, stopReason, metadata }) => {
    if (agent === undefined) return [];
    if (status === 'stopped') return [`${id} is stopped${stopReason === undefined ? '' : `: ${stopReason}`}`];
    const failure = metadata?.['failure'];
    return typeof failure === 'string' ? [`The last turn of ${id} failed: ${failure}`] : [];
  });
  const left = tasks.flatMap(({ id, title, status, failure, blockedReason }) => {
    if (status === 'failed') return [`#${id} ${title} failed: ${failure ?? 'no reason was given'}`];
    return status === 'blocked' && blockedReason !== undefined ? [`#${id} ${title} ${blockedReason}`] : [];
  });
  const asked = requests.map(({ kind, memberId, content }) => `${memberId} waits for an answer (${kind}): ${content}`);
  const none = members.some(({ agent }) => agent !== undefined) ? [] : ['No member has an agent.'];
  return [...none, ...spent, ...stopped, ...left, ...asked, ...troubles];
}
