import type { CommandType } from '../../src/core/command.ts';
import { teamOf } from '../core/stage.ts';
import type { InputOf, Stage } from '../core/stage.ts';
import type { CommandSample, CommandSamples } from './sample.ts';
import { TASK_COMMANDS } from './task.ts';
import { LANDING_COMMANDS, TIP_COMMANDS, WORK_COMMANDS } from './work.ts';

/** A sample of each command. An id such as `$plan` stands for the request of that kind in the scene. */
export const COMMANDS: CommandSamples = {
  'team.create': { by: '@user', input: { name: 'alpha' }, events: [] },
  'team.update': { by: 'lead', input: { description: 'new' }, events: ['team:updated'] },
  'team.close': {
    by: 'lead',
    input: { force: true },
    events: ['teammate:stopped', 'teammate:stopped', 'task:released', 'teammate:stopped', 'team:closed'],
  },
  'member.join': { by: 'lead', input: { name: 'eve' }, events: ['teammate:joined'] },
  'member.change': { by: 'ann', input: { memberId: 'ann', status: 'idle' }, events: ['teammate:idle'] },
  'member.leave': { by: 'ann', input: { memberId: 'ann' }, events: ['teammate:stopped', 'task:released'] },
  'member.place': {
    by: '@system',
    input: { memberId: 'ann', hostId: 'h1' },
    events: ['teammate:placed', 'task:released'],
  },
  ...TASK_COMMANDS,
  ...WORK_COMMANDS,
  ...LANDING_COMMANDS,
  ...TIP_COMMANDS,
  'message.send': { by: 'ann', input: { messageId: 'm9', toId: 'bob', content: 'x' }, events: ['message:sent'] },
  'message.receive': {
    by: 'lead@beta',
    input: { messageId: 'm8', toId: 'lead', content: 'x' },
    events: ['message:sent'],
    before: (team) => team.as('@user', 'team.update', { peers: ['beta'] }),
  },
  'message.broadcast': { by: 'ann', input: { messageId: 'b9', content: 'x' }, events: ['message:sent'] },
  'message.deliver': {
    by: 'ann',
    input: { memberId: 'ann', messageIds: ['m1'], sessionId: 's1' },
    events: ['message:delivered'],
  },
  'message.acknowledge': {
    by: 'ann',
    input: { memberId: 'ann', messageIds: ['m1'] },
    events: ['message:acknowledged'],
  },
  'message.read': { by: 'ann', input: { memberId: 'ann', messageIds: ['m1'] }, events: ['message:read'] },
  'shutdown.request': { by: 'lead', input: { memberId: 'bob' }, events: ['shutdown:requested'] },
  'shutdown.approve': { by: 'ann', input: { requestId: '$shutdown' }, events: ['shutdown:approved'] },
  'shutdown.reject': { by: 'ann', input: { requestId: '$shutdown' }, events: ['shutdown:rejected'] },
  'plan.submit': { by: 'bob', input: { content: 'p' }, events: ['plan:submitted'] },
  'plan.approve': { by: 'lead', input: { requestId: '$plan' }, events: ['plan:approved'] },
  'plan.reject': { by: 'lead', input: { requestId: '$plan' }, events: ['plan:rejected'] },
  'request.raise': {
    by: 'ann',
    input: { kind: 'permission', memberId: 'ann', content: 'May I?' },
    events: ['request:raised'],
  },
  'request.answer': { by: '@user', input: { requestId: '$question', approve: true }, events: ['request:answered'] },
  'note.add': { by: 'ann', input: { text: 'x' }, events: ['note:added'] },
  'note.update': { by: 'ann', input: { noteId: '1', text: 'new' }, events: ['note:updated'] },
  'note.remove': { by: 'ann', input: { noteId: '1' }, events: ['note:removed'] },
  'hook.register': {
    by: '@user',
    input: { hook: { type: 'TaskCompleted', command: 'npm test' } },
    events: ['hook:registered'],
  },
  'hook.remove': { by: '@user', input: { hookType: 'TeammateIdle' }, events: ['hook:removed'] },
  'usage.record': { by: 'ann', input: { memberId: 'ann', usage: { turns: 1 } }, events: ['usage:recorded'] },
  'account.report': {
    before: (team) => team.as('ann', 'member.change', { memberId: 'ann', account: 'claude' }),
    by: 'ann',
    input: { memberId: 'ann', cause: 'limited', reason: 'used up', resetsAt: 9_000_000_000_000 },
    events: ['account:changed'],
  },
  'account.set': {
    by: '@user',
    input: { account: 'claude', windows: [{ name: 'five_hour', used: 0.5 }] },
    events: ['account:changed'],
  },
};

/** A team with an object for every command, and the sample of one command. */
export function sceneOf<T extends CommandType>(type: T): { team: Stage; by: string; input: InputOf<T> } {
  const team = teamOf('ann', 'bob');
  team.task();
  team.task();
  team.task({ dependencies: ['1'] });
  team.task();
  team.do('task.complete', { taskId: '4' });
  team.as('ann', 'task.claim', { taskId: '1' });
  team.do('message.send', { messageId: 'm1', toId: 'ann', content: 'x' });
  const [shutdown] = team.do('shutdown.request', { memberId: 'ann' });
  const [plan] = team.as('ann', 'plan.submit', { content: 'p' });
  const [question] = team.as('ann', 'request.raise', { kind: 'permission', memberId: 'ann', content: 'May I?' });
  team.as('ann', 'note.add', { text: 'n' });
  team.as('@user', 'hook.register', { hook: { type: 'TeammateIdle', command: 'true' } });
  const { by, input, before } = COMMANDS[type] as CommandSample<T>;
  before?.(team);
  const ids: Record<string, unknown> = { $shutdown: shutdown, $plan: plan, $question: question };
  const named = ids[(input as { requestId?: string }).requestId ?? ''] as { requestId: string } | undefined;
  return { team, by, input: { ...input, ...(named && { requestId: named.requestId }) } };
}
