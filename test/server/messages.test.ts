import { describe, expect, test } from 'vitest';
import { TeamMember } from '../../src/core/member.ts';
import { TeamMessage } from '../../src/core/message.ts';
import { SharedTask } from '../../src/core/task.ts';
import { TeamConfig } from '../../src/core/team.ts';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { openUnix, openWebSocket } from './wire.ts';
import type { Frame, Wire } from './wire.ts';

/** What a dashboard of the first design sends, in order. */
const ASKED: readonly (readonly [type: string, payload: object, answer: string])[] = [
  [
    'create_team',
    {
      name: 'fresh',
      leadSessionId: 'session-1',
      teammateMode: 'auto',
      maxTeammates: 3,
      delegateMode: false,
      metadata: {},
    },
    'team_created',
  ],
  [
    'spawn_teammate',
    { teamId: 'fresh', name: 'helper', role: 'tester', prompt: 'Test it', agentType: 'test reviewer', model: 'small' },
    'teammate_spawned',
  ],
  ['team_send_message', { teamId: 'fresh', toId: 'helper', content: 'Hello' }, 'team_message'],
  ['team_broadcast', { teamId: 'fresh', content: 'Hello all' }, 'team_messages'],
  ['team_create_task', { teamId: 'fresh', title: 'First', description: 'Do it' }, 'team_task_update'],
  [
    'team_update_task',
    { teamId: 'fresh', taskId: '1', priority: 'high', metadata: { of: 'mine' } },
    'team_task_update',
  ],
  ['team_update_task', { teamId: 'fresh', taskId: '1', status: 'pending', assigneeId: 'helper' }, 'team_task_update'],
  ['team_claim_task', { teamId: 'fresh', taskId: '1' }, 'team_task_update'],
  ['team_complete_task', { teamId: 'fresh', taskId: '1', result: 'Done' }, 'team_task_update'],
  ['team_list_tasks', { teamId: 'fresh' }, 'team_tasks'],
  ['team_status', { teamId: 'fresh' }, 'team_status_update'],
  ['shutdown_teammate', { teamId: 'fresh', memberId: 'helper' }, 'shutdown_requested'],
  ['cleanup_team', { teamId: 'fresh', force: true }, 'team_cleaned_up'],
];

const speaker: Readonly<Record<string, string>> = {
  team_send_message: 'lead',
  team_broadcast: 'lead',
  team_claim_task: 'helper',
  team_complete_task: 'helper',
};

describe.each(['unix', 'ws'] as const)('the messages of the first design over %s', (kind) => {
  const connect = ({ home, url, token }: Stage): Promise<Wire> =>
    kind === 'unix' ? openUnix(home.socket, token) : openWebSocket(url, { authorization: `Bearer ${token}` });

  test('are all understood and answered', async () => {
    const stage = await setStage();
    const wire = await connect(stage);
    for (const [type, payload, answerType] of ASKED) {
      const answer = await wire.ask({ type, payload, ...(speaker[type] && { as: speaker[type] }) });
      expect({ type, answer }).toMatchObject({ type, answer: { type: answerType } });
    }
    const answers = new Map(wire.frames.map((frame) => [frame.type, frame]));
    expect(TeamConfig.safeParse(answers.get('team_created')?.['team']).success).toBe(true);
    expect(TeamMember.safeParse(answers.get('teammate_spawned')?.['member']).success).toBe(true);
    expect(TeamMessage.safeParse(answers.get('team_message')?.['message']).success).toBe(true);
    expect(SharedTask.safeParse(answers.get('team_task_update')?.['task']).success).toBe(true);
    expect(TeamConfig.safeParse(answers.get('team_status_update')?.['team']).success).toBe(true);
    expect(answers.get('team_cleaned_up')).toMatchObject({ teamId: 'fresh' });
  });

  test('may name the sender, and are refused if the credential is for another member', async () => {
    const stage = await setStage();
    const [person, worker] = await Promise.all([connect(stage), connect({ ...stage, token: stage.tokens.worker })]);
    const ask = (wire: Wire, type: string, payload: object, as?: string) =>
      wire.ask({ type, payload: { teamId: 'demo', ...payload }, ...(as !== undefined && { as }) });
    const mail = { toId: 'lead', content: 'Hello', type: 'direct', priority: 'urgent', metadata: { of: 'mine' } };
    for (const wire of [person, worker]) {
      const task = {
        title: 'First',
        description: 'Do it',
        priority: 'critical',
        dependencies: [],
        createdBy: 'worker',
      };
      const made = await ask(wire, 'team_create_task', task);
      expect(made).toMatchObject({ task: { createdBy: 'worker' } });
      const { id: taskId } = made['task'] as { id: string };
      const claim = { taskId, teammateId: 'worker' };
      expect(await ask(wire, 'team_claim_task', claim)).toMatchObject({ task: { assigneeId: 'worker' } });
      const done = { task: { status: 'completed', assigneeId: 'worker' } };
      expect(await ask(wire, 'team_complete_task', { ...claim, result: 'Done' })).toMatchObject(done);
      const message = { message: { fromId: 'worker', type: 'direct' } };
      expect(await ask(wire, 'team_send_message', { ...mail, fromId: 'worker' }, 'worker')).toMatchObject(message);
      const all = { content: 'Hello all', fromId: 'worker', type: 'broadcast' };
      expect(await ask(wire, 'team_broadcast', all)).toMatchObject({ messages: [{ fromId: 'worker' }, {}] });
      const refused = { error: { code: 'not_allowed' } };
      expect(await ask(wire, 'team_send_message', { ...mail, fromId: 'lead' }, 'worker')).toMatchObject(refused);
      expect(await ask(wire, 'team_send_message', { ...mail, type: 'system' }, 'worker')).toMatchObject(refused);
      expect(await ask(wire, 'team_claim_task', { teammateId: 7 })).toMatchObject({ error: { code: 'invalid' } });
      // Operations called by their own names do not accept that.
      expect(await ask(wire, 'task.claim', claim)).toMatchObject({ error: { code: 'invalid' } });
    }
    const forged = { error: { code: 'not_allowed', message: 'This credential acts for worker, not for "lead"' } };
    expect(await ask(worker, 'team_send_message', { ...mail, fromId: 'lead' })).toMatchObject(forged);
    expect(await ask(worker, 'team_claim_task', { teammateId: 'lead' })).toMatchObject(forged);
  });

  test('are all pushed to subscribers, live and from the journal', async () => {
    const stage = await setStage();
    const teamId = 'demo';
    const live = await connect(stage);
    await live.ask({ type: 'subscribe', payload: { teamId } });
    await stage.act('task.create', { teamId, title: 'First' });
    await stage.act('task.claim', { teamId }, 'worker');
    await stage.act('message.send', { teamId, toId: 'other', content: 'Hello' }, 'worker');
    await stage.act('member.update', { teamId, memberId: 'other', status: 'idle' }, 'other');
    await stage.act('member.remove', { teamId, memberId: 'other' });
    await stage.act('team.update', { teamId, description: 'New words' });
    await stage.act('member.update', { teamId, memberId: 'lead', status: 'idle' }, 'lead');
    await stage.act('team.close', { teamId, force: true });
    const last = (await stage.ends())[teamId];
    await live.take(({ type, seq }) => type === 'events' && seq === last);
    const late = await connect(stage);
    await late.ask({ type: 'subscribe', payload: { teamId } });
    await late.take(({ type, seq }) => type === 'events' && seq === last);
    for (const wire of [live, late]) {
      await wire.ask({ type: 'ping' });
      const pushed = wire.frames.filter(({ seq, type }) => seq !== undefined && type !== 'subscribed');
      expect(pushed.every((frame) => frame['teamId'] === teamId)).toBe(true);
      expect([...new Set(pushed.map(({ type }) => type))].sort()).toEqual([
        'events',
        'team_cleaned_up',
        'team_created',
        'team_message',
        'team_status_update',
        'team_task_update',
        'teammate_idle',
        'teammate_shutdown',
        'teammate_spawned',
      ]);
      const first = (type: string): Frame | undefined => pushed.find((frame) => frame.type === type);
      expect(TeamConfig.safeParse(first('team_created')?.['team']).success).toBe(true);
      expect(TeamMember.safeParse(first('teammate_spawned')?.['member']).success).toBe(true);
      expect(first('team_message')).toMatchObject({ message: { content: 'Hello', fromId: 'worker', toId: 'other' } });
      expect(SharedTask.safeParse(first('team_task_update')?.['task']).success).toBe(true);
      expect(first('teammate_idle')).toMatchObject({ memberId: 'other', teamId });
      expect(first('teammate_shutdown')).toMatchObject({ memberId: 'other', teamId });
      // The lead is no teammate: its joining and idling come with the team.
      const spawned = pushed.flatMap(({ member }) => (member as TeamMember | undefined)?.id ?? []);
      expect([...spawned, ...pushed.flatMap(({ memberId }) => memberId ?? [])]).not.toContain('lead');
      // The events of a batch come before the messages made from them.
      const order = pushed.map(({ seq, type }) => Number(seq) * 2 + (type === 'events' ? 0 : 1));
      expect(order).toEqual([...order].sort((a, b) => a - b));
    }
    const stands = live.frames.flatMap(({ team }) => (team as TeamConfig | undefined)?.members ?? []);
    expect(stands.filter(({ id }) => id === 'lead').map(({ status }) => status)).toContain('idle');
    const claimed = live.frames.filter(({ type }) => type === 'team_task_update').map(({ task }) => task);
    expect(claimed.slice(0, 2)).toMatchObject([{ status: 'pending' }, { status: 'in_progress', assigneeId: 'worker' }]);
  });
});
