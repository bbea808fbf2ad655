import type { Stage } from '../server/stage.ts';
import type { CommandSamples, EventSamples, OperationSamples } from './sample.ts';

/*
 * A sample of each command, event and operation about a task. The tests of every room begin with these: a new one is
 * tried in all rooms once it is here.
 */

export const TASK_COMMANDS: CommandSamples<'task'> = {
  'task.create': { by: 'ann', input: { title: 't' }, events: ['task:created'] },
  'task.update': { by: 'ann', input: { taskId: '1', title: 'new' }, events: ['task:updated'] },
  'task.assign': { by: 'lead', input: { taskId: '2', assigneeId: 'bob' }, events: ['task:assigned'] },
  'task.claim': { by: 'bob', input: {}, events: ['task:claimed'] },
  'task.renew': {
    by: 'ann',
    input: { taskId: '1' },
    events: ['task:renewed'],
    before: (team) => {
      team.as('ann', 'task.release', { taskId: '1' });
      team.as('ann', 'task.claim', { taskId: '1', lease: 60_000 });
    },
  },
  'task.release': { by: 'ann', input: { taskId: '1' }, events: ['task:released'] },
  'task.complete': { by: 'ann', input: { taskId: '1' }, events: ['task:completed', 'task:unblocked'] },
  'task.reject': { by: '@system', input: { taskId: '1', feedback: 'again' }, events: ['task:rejected'] },
  'task.fail': { by: 'ann', input: { taskId: '1', reason: 'no' }, events: ['task:failed'] },
  'task.reopen': { by: 'lead', input: { taskId: '4' }, events: ['task:reopened'] },
  'task.delete': { by: 'lead', input: { taskId: '1' }, events: ['task:deleted', 'task:unblocked'] },
  'task.addDependencies': {
    by: 'ann',
    input: { taskId: '2', dependencies: ['1'] },
    events: ['task:dependencies-added'],
  },
  'task.removeDependencies': {
    by: 'ann',
    input: { taskId: '3', dependencies: ['1'] },
    events: ['task:dependencies-removed', 'task:unblocked'],
  },
};

export const TASK_EVENTS: EventSamples<'task'> = {
  'task:created': {
    taskId: '2',
    title: 't',
    description: 'd',
    activeForm: undefined,
    priority: 'high',
    assigneeId: 'ann',
    dependencies: ['1'],
    onDependencyFailure: 'fail',
    metadata: { a: 1 },
  },
  'task:updated': { taskId: '1', title: 'new', description: undefined, metadata: { a: 1 } },
  'task:assigned': { taskId: '1', assigneeId: null, epoch: 1 },
  'task:claimed': { taskId: '1', memberId: 'ann', epoch: 1, lease: 60_000 },
  'task:renewed': { taskId: '1', memberId: 'ann' },
  'task:released': { taskId: '1', memberId: 'ann', epoch: 2, reason: undefined },
  'task:rejected': { taskId: '1', memberId: undefined, feedback: 'again' },
  'task:completed': { taskId: '1', memberId: undefined, result: 'r' },
  'task:failed': { taskId: '1', memberId: 'ann', reason: 'no' },
  'task:reopened': { taskId: '1', epoch: 3, reason: 'again' },
  'task:deleted': { taskId: '1', epoch: 4 },
  'task:unblocked': { taskId: '1' },
  'task:dependencies-added': { taskId: '1', dependencies: ['2'] },
  'task:dependencies-removed': { taskId: '1', dependencies: ['2'] },
};

export const TASK_OPERATIONS: OperationSamples<'task'> = {
  'task.create': async ({ teamId }) => ({ input: { teamId, title: 'Write tests', priority: 'high' } }),
  'task.list': async ({ teamId }) => ({ input: { teamId, limit: 5 } }),
  'task.show': async (stage) => ({ input: await newTask(stage) }),
  'task.update': async (stage) => ({ input: { ...(await newTask(stage)), title: 'Write more tests' } }),
  'task.assign': async (stage) => ({ input: { ...(await newTask(stage)), assigneeId: 'worker' } }),
  'task.claim': async (stage) => ({ input: await newTask(stage), as: 'worker' }),
  'task.release': async (stage) => ({ input: await heldTask(stage), as: 'worker' }),
  'task.complete': async (stage) => ({ input: { ...(await heldTask(stage)), result: 'They pass' }, as: 'worker' }),
  'task.fail': async (stage) => ({ input: { ...(await heldTask(stage)), reason: 'No time' }, as: 'worker' }),
  'task.reopen': async (stage) => {
    const task = await heldTask(stage);
    await stage.act('task.complete', task, 'worker');
    return { input: task };
  },
  'task.delete': async (stage) => ({ input: await newTask(stage) }),
  'task.depend': async (stage) => {
    const { taskId } = await newTask(stage);
    return { input: { ...(await newTask(stage)), dependencies: [taskId] } };
  },
  'task.undepend': async (stage) => {
    const { taskId } = await newTask(stage);
    const task = await newTask(stage);
    await stage.act('task.depend', { ...task, dependencies: [taskId] });
    return { input: { ...task, dependencies: [taskId] } };
  },
};

async function newTask({ act, teamId }: Stage): Promise<{ teamId: string; taskId: string }> {
  return { teamId, taskId: (await act('task.create', { teamId, title: 'Write tests' })).id };
}

export async function heldTask(stage: Stage): Promise<{ teamId: string; taskId: string }> {
  const task = await newTask(stage);
  await stage.act('task.claim', task, 'worker');
  return task;
}
