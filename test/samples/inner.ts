import { join } from 'node:path';
import type { Stage } from '../server/stage.ts';
import type { OperationSamples } from './sample.ts';

/** A task that a member holds which is a team. */
async function heldByTeam({ act, teamId, home }: Stage): Promise<{ teamId: string; taskId: string }> {
  const path = join(home.directory, 'review.yaml');
  const files = { [path]: 'team: review\nlead: { agent: claude }\n' };
  const agent = { kind: 'team' as const, team: { path, folder: home.directory, files } };
  await act('member.add', { teamId, name: 'rev', agent, status: 'idle' });
  const { id: taskId } = await act('task.create', { teamId, title: 'Review it', assigneeId: 'rev' });
  await act('task.claim', { teamId, taskId }, 'rev');
  return { teamId, taskId };
}

async function begun(stage: Stage): Promise<{ teamId: string; taskId: string }> {
  const task = await heldByTeam(stage);
  await stage.act('inner.begin', { ...task, turn: 'first', text: 'Review it' }, 'rev');
  return task;
}

/** A sample of each operation about the team inside a member. */
export const INNER_OPERATIONS: OperationSamples<'inner'> = {
  'inner.begin': async (stage) => ({
    input: { ...(await heldByTeam(stage)), turn: 'first', text: 'Review it' },
    as: 'rev',
  }),
  'inner.follow': async (stage) => ({ input: await begun(stage), as: 'rev' }),
  'inner.tell': async (stage) => {
    const task = await begun(stage);
    const { id } = await stage.act('message.send', { teamId: task.teamId, toId: 'rev', content: 'Look at the parser' });
    return { input: { ...task, messageIds: [id] }, as: 'rev' };
  },
  'inner.rest': async (stage) => ({ input: { ...(await begun(stage)), reason: 'enough' }, as: 'rev' }),
};
