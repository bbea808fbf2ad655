import type { InputOf, OperationName } from '../../src/operations/index.ts';
import type { Stage } from './stage.ts';

/** A call of an operation that works on a fresh stage. */
export interface Sample<N extends OperationName> {
  readonly input: InputOf<N>;
  /** The member that the person speaks for. */
  readonly as?: string;
}

type Samples = { readonly [N in OperationName]: (stage: Stage) => Promise<Sample<N>> };

const teamId = 'demo';

async function newTask({ act }: Stage): Promise<{ teamId: string; taskId: string }> {
  return { teamId, taskId: (await act('task.create', { teamId, title: 'Write tests' })).id };
}

async function heldTask(stage: Stage): Promise<{ teamId: string; taskId: string }> {
  const task = await newTask(stage);
  await stage.act('task.claim', task, 'worker');
  return task;
}

async function newMail({ act }: Stage): Promise<{ teamId: string; memberId: string; messageIds: string[] }> {
  const { id } = await act('message.send', { teamId, toId: 'worker', content: 'Hello' }, 'lead');
  return { teamId, memberId: 'worker', messageIds: [id] };
}

async function askedShutdown({ act }: Stage): Promise<{ teamId: string; requestId: string }> {
  return { teamId, requestId: (await act('shutdown.request', { teamId, memberId: 'worker' }, 'lead')).id };
}

async function handedPlan({ act }: Stage): Promise<{ teamId: string; requestId: string }> {
  await act('member.add', { teamId, name: 'planner', planApprovalRequired: true });
  return { teamId, requestId: (await act('plan.submit', { teamId, content: 'First this, then that' }, 'planner')).id };
}

/** One of each: the compiler says which is missing. */
export const SAMPLES: Samples = {
  'team.create': async () => ({ input: { name: 'fresh', description: 'A team' } }),
  'team.list': async () => ({ input: {} }),
  'team.show': async () => ({ input: { teamId } }),
  'team.status': async () => ({ input: { teamId } }),
  'team.update': async () => ({ input: { teamId, description: 'Other words' } }),
  'team.close': async () => ({ input: { teamId, force: true } }),
  'team.delete': async () => ({ input: { teamId, force: true } }),
  'member.add': async () => ({ input: { teamId, name: 'fresh', role: 'tester' } }),
  'member.list': async () => ({ input: { teamId } }),
  'member.show': async () => ({ input: { teamId, memberId: 'worker' } }),
  'member.update': async () => ({ input: { teamId, memberId: 'worker', role: 'reviewer' } }),
  'member.idle': async () => ({ input: { teamId, memberId: 'worker' }, as: 'worker' }),
  'member.remove': async () => ({ input: { teamId, memberId: 'worker', reason: 'done' } }),
  'member.token': async () => ({ input: { teamId, memberId: 'worker' } }),
  'usage.record': async () => ({
    input: { teamId, memberId: 'worker', usage: { inputTokens: 1, outputTokens: 2 } },
    as: 'worker',
  }),
  'usage.show': async () => ({ input: { teamId } }),
  'task.create': async () => ({ input: { teamId, title: 'Write tests', priority: 'high' } }),
  'task.list': async () => ({ input: { teamId, limit: 5 } }),
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
  'message.send': async () => ({ input: { teamId, toId: 'worker', content: 'Hello' }, as: 'lead' }),
  'message.broadcast': async () => ({ input: { teamId, content: 'Hello all' }, as: 'lead' }),
  'message.inbox': async (stage) => {
    await newMail(stage);
    return { input: { teamId, unread: true, limit: 3 }, as: 'worker' };
  },
  'message.read': async (stage) => ({ input: await newMail(stage), as: 'worker' }),
  'message.deliver': async (stage) => ({ input: { ...(await newMail(stage)), sessionId: 's1' }, as: 'worker' }),
  'message.acknowledge': async (stage) => {
    const mail = await newMail(stage);
    await stage.act('message.deliver', { ...mail, sessionId: 's1' }, 'worker');
    return { input: mail, as: 'worker' };
  },
  'request.list': async () => ({ input: { teamId, status: 'pending' } }),
  'shutdown.request': async () => ({ input: { teamId, memberId: 'worker', reason: 'done' }, as: 'lead' }),
  'shutdown.approve': async (stage) => ({ input: await askedShutdown(stage), as: 'worker' }),
  'shutdown.reject': async (stage) => ({ input: { ...(await askedShutdown(stage)), feedback: 'Busy' }, as: 'worker' }),
  'plan.submit': async ({ act }) => {
    await act('member.add', { teamId, name: 'planner', planApprovalRequired: true });
    return { input: { teamId, content: 'First this, then that' }, as: 'planner' };
  },
  'plan.approve': async (stage) => ({ input: await handedPlan(stage), as: 'lead' }),
  'plan.reject': async (stage) => ({ input: { ...(await handedPlan(stage)), feedback: 'Shorter' }, as: 'lead' }),
  'event.list': async () => ({ input: { teamId, after: 1, limit: 1 } }),
  'daemon.status': async () => ({ input: {} }),
  'daemon.stop': async () => ({ input: {} }),
  'ui.login': async () => ({ input: {} }),
  'token.rotate': async () => ({ input: {} }),
};
