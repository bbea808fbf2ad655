import { describe, expect, test } from 'vitest';
import type { EventData, EventType, TeamEvent } from '../../src/core/event.ts';
import { evolve } from '../../src/core/evolve.ts';
import { waitsOf } from '../../src/core/obstacles.ts';
import { createState } from '../../src/core/state.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import { copyOf, picture } from './picture.ts';
import { teamOf } from './stage.ts';

/**
 * One event of every type, about a team with `ann`, task 1, message m1 and note 1. A new event type must be added here,
 * or this does not compile.
 */
const EVENTS: { [T in EventType]: EventData[T] } = {
  'team:created': {
    name: 'alpha',
    description: 'd',
    leadId: 'lead',
    leadSessionId: 's',
    teammateMode: 'auto',
    resolvedBackend: 'in-process',
    maxTeammates: 4,
    delegateMode: true,
    metadata: { a: 1 },
  },
  'team:updated': { description: 'new', maxTeammates: undefined, status: 'shutting-down', metadata: { a: null, b: 2 } },
  'team:closed': {},
  'hook:registered': {
    hook: {
      type: 'TaskCompleted',
      command: 'npm test',
      executor: 'shell',
      cwd: undefined,
      env: ['PATH'],
      approved: 'h',
      timeout: 5,
      enabled: true,
      onFailure: 'block',
    },
  },
  'hook:removed': { hookType: 'TeammateIdle' },
  'teammate:joined': {
    memberId: 'bob',
    sessionId: 's',
    role: 'r',
    agentType: 't',
    status: 'spawning',
    spawnPrompt: undefined,
    planApprovalRequired: true,
    model: 'm',
    color: 'blue',
    cwd: '/x',
    backendType: 'tmux',
    agent: { kind: 'exec', command: ['true'], args: undefined, env: { A: 'b' }, mode: 'plan' },
    metadata: { a: 1 },
  },
  'teammate:changed': { memberId: 'ann', status: 'idle', role: undefined, metadata: { a: 1 } },
  'teammate:placed': { memberId: 'ann', hostId: 'h1' },
  'teammate:idle': { memberId: 'ann', reason: undefined, result: 'done' },
  'teammate:stopped': { memberId: 'ann', reason: 'tired', returning: true },
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
  'task:claimed': { taskId: '1', memberId: 'ann', epoch: 1 },
  'task:released': { taskId: '1', memberId: 'ann', epoch: 2, reason: undefined },
  'task:rejected': { taskId: '1', memberId: undefined, feedback: 'again' },
  'task:completed': { taskId: '1', memberId: undefined, result: 'r' },
  'task:failed': { taskId: '1', memberId: 'ann', reason: 'no' },
  'task:reopened': { taskId: '1', epoch: 3, reason: 'again' },
  'task:deleted': { taskId: '1', epoch: 4 },
  'task:unblocked': { taskId: '1' },
  'task:dependencies-added': { taskId: '1', dependencies: ['2'] },
  'task:dependencies-removed': { taskId: '1', dependencies: ['2'] },
  'message:sent': {
    copies: [
      { id: 'm2/ann', toId: 'ann' },
      { id: 'm2/lead', toId: 'lead' },
    ],
    messageType: 'broadcast',
    content: 'x',
    summary: undefined,
    priority: 'urgent',
    broadcastId: 'm2',
    metadata: { a: 1 },
  },
  'message:delivered': { memberId: 'ann', messageIds: ['m1'], sessionId: 's', redelivery: true },
  'message:acknowledged': { memberId: 'ann', messageIds: ['m1'] },
  'message:read': { memberId: 'ann', messageIds: ['m1'] },
  'shutdown:requested': { requestId: 'r2', memberId: 'ann', reason: 'done' },
  'shutdown:approved': { requestId: 'r1', memberId: 'ann', feedback: undefined },
  'shutdown:rejected': { requestId: 'r1', memberId: 'ann', feedback: 'no' },
  'plan:submitted': { requestId: 'p2', memberId: 'ann', content: 'plan', filePath: undefined },
  'plan:approved': { requestId: 'p1', memberId: 'ann', feedback: 'good' },
  'plan:rejected': { requestId: 'p1', memberId: 'ann', feedback: 'bad' },
  'request:raised': {
    requestId: 'q2',
    kind: 'permission',
    memberId: 'ann',
    taskId: undefined,
    content: 'May I?',
    deadline: 1_800_000_060_000,
    detail: { a: 1 },
  },
  'request:answered': { requestId: 'q1', memberId: 'ann', approved: false, feedback: undefined },
  'note:added': { noteId: '2', text: 'x', tags: ['a'] },
  'note:updated': { noteId: '1', text: undefined, tags: ['b'] },
  'note:removed': { noteId: '1' },
  'usage:recorded': { memberId: 'ann', taskId: '1', usage: { ...NO_USAGE, turns: 1 } },
};

const ALL = Object.entries(EVENTS).map(
  ([type, data], i) =>
    ({ type, at: 1_800_000_000_000 + i, by: 'lead', cause: `c${i}`, ...data }) as unknown as TeamEvent,
);

describe('evolve', () => {
  test.each(ALL)('applies $type from JSON as from memory', (event) => {
    const live = subject();
    const read = copyOf(live);
    evolve(live, event);
    evolve(read, JSON.parse(JSON.stringify(event)) as TeamEvent);
    expect(picture(read)).toEqual(picture(live));
  });

  test.each(ALL)('applies $type in a team that does not know its subject', (event) => {
    const state = createState('alpha');
    expect(evolve(state, event)).toBe(state);
    expect(state.receipts.get(event.cause ?? '')).toMatchObject({ by: 'lead' });
  });

  test.each([
    'task:merged',
    'constructor',
    'toString',
    '__proto__',
    'hasOwnProperty',
    '',
    'x\u001b[2J',
    undefined,
    null,
    7,
  ])('refuses an event of the unknown type %j and changes nothing', (type) => {
    const state = subject();
    const before = picture(state);
    const event = { type, at: 1, by: 'lead', cause: 'c' } as unknown as TeamEvent;
    expect(() => evolve(state, event)).toThrow(
      expect.objectContaining({
        code: 'unsupported',
        message: expect.stringMatching(
          /^Team alpha holds an event "[\x20-\x7e]*" of a newer Troupe: update Troupe to open it$/,
        ) as string,
      }),
    );
    expect(picture(state)).toEqual(before);
  });

  test('keeps a cycle from another writer blocked forever, and terminates', () => {
    const { state } = teamOf('ann');
    const create = {
      ...ALL.find(({ type }) => type === 'task:created'),
      assigneeId: undefined,
    } as unknown as TeamEvent;
    evolve(state, { ...create, taskId: '1', dependencies: ['2'] } as unknown as TeamEvent);
    evolve(state, { ...create, taskId: '2', dependencies: ['1'] } as unknown as TeamEvent);
    expect([waitsOf(state, '1'), waitsOf(state, '2')]).toEqual([1, 1]);
    expect(picture(state).work).toEqual([[], []]);
  });
});

/** A team with an object for every event. */
function subject() {
  const team = teamOf('ann');
  team.task();
  team.do('message.send', { messageId: 'm1', toId: 'ann', content: 'hello' });
  team.as('ann', 'note.add', { text: 'n' });
  team.as('@user', 'hook.register', { hook: { type: 'TeammateIdle', command: 'true' } });
  const at = 1_700_000_000_000;
  for (const event of [
    { type: 'shutdown:requested', at, by: 'lead', requestId: 'r1', memberId: 'ann', reason: '' },
    { type: 'plan:submitted', at, by: 'ann', requestId: 'p1', memberId: 'ann', content: 'plan' },
    { type: 'request:raised', at, by: 'ann', requestId: 'q1', kind: 'gate', memberId: 'ann', content: 'see' },
  ] as const) {
    evolve(team.state, event);
  }
  return team.state;
}
