import { describe, expect, test } from 'vitest';
import type { TeamEvent } from '../../src/core/event.ts';
import { evolve } from '../../src/core/evolve.ts';
import { waitsOf } from '../../src/core/obstacles.ts';
import { createState } from '../../src/core/state.ts';
import { EVENTS } from '../samples/events.ts';
import { commit, WORK } from '../samples/work.ts';
import { copyOf, picture } from './picture.ts';
import { teamOf } from './stage.ts';

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

  test.each(ALL)('applies $type in a team with a merge queue that does not know its subject', (event) => {
    const { state } = teamAtWork();
    evolve(state, event);
    expect(() => picture(state)).not.toThrow();
  });

  test('puts the work of a task that it does not know in front, as the oldest', () => {
    const { state } = teamAtWork();
    evolve(state, { type: 'work:approved', at: 2, by: '@user', taskId: '1', epoch: 1, commit: commit(4) });
    expect(state.team?.work?.queue).toEqual(['1', '9']);
  });

  test('changes no landing by the end of another one', () => {
    const { state, landing } = teamAtWork();
    evolve(state, { type: 'landing:ended', at: 2, by: '@system', landingId: 'other', how: 'red', why: 'x' });
    expect(state.team?.work).toMatchObject({ landing: { id: landing } });
    expect(state.team?.work?.ended).toBeUndefined();
  });

  test.each([
    ['task:claimed', { taskId: '1', memberId: 'ann' }],
    ['task:created', { taskId: '2' }],
    ['teammate:idle', { memberId: 'ann' }],
    ['team:updated', {}],
    ['usage:recorded', { memberId: 'ann', taskId: '1' }],
    ['message:sent', { messageIds: ['m2/ann', 'm2/lead'] }],
    ['message:delivered', { memberId: 'ann', messageIds: ['m1'] }],
    ['message:read', { memberId: 'ann' }],
    ['request:answered', { memberId: 'ann', requestId: 'q1' }],
    ['note:removed', { noteId: '1' }],
  ] as const)('remembers of a command what its first event is about: %s', (type, about) => {
    const { state } = teamOf('ann');
    const data = { taskId: undefined, memberId: undefined, ...EVENTS[type] } as object;
    evolve(state, { type, at: 1, by: 'lead', cause: 'c', print: 'p', ...data } as TeamEvent);
    expect(state.receipts.get('c')).toMatchObject({ by: 'lead', print: 'p', ...about });
    expect(Object.keys(state.receipts.get('c') ?? {}).toSorted()).toEqual(
      ['by', 'print', ...Object.keys(about)].toSorted(),
    );
  });

  test('charges no team for mail that comes before the team itself', () => {
    const state = createState('alpha');
    const data = { ...EVENTS['message:sent'], broadcastId: undefined };
    evolve(state, { ...data, type: 'message:sent', at: 1, by: 'kim@beta' });
    expect([state.team, state.messages.size]).toEqual([undefined, 2]);
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

const TASK_9 = { ...EVENTS['task:created'], taskId: '9', assigneeId: undefined, dependencies: [] };

/** A team with workspaces in which bob handed in the work of task 9, which lands. */
function teamAtWork() {
  const team = teamOf();
  const work = { taskId: '9', memberId: 'bob', epoch: 1, base: commit(1), commit: commit(2) };
  const size = { files: 1, added: 1, removed: 0, paths: ['a'] };
  const name = { taskId: '9', epoch: 1, commit: commit(2) };
  team.as('@user', 'team.update', { work: WORK });
  team.as('@user', 'member.join', { name: 'bob', agent: { kind: 'exec', command: ['true'] } });
  evolve(team.state, { ...TASK_9, type: 'task:created', at: team.now, by: 'lead' });
  team.as('bob', 'task.claim', { taskId: '9' });
  team.as('bob', 'work.submit', { ...work, ...size });
  const landing = { landingId: 'l9', hostId: 'h1', onto: commit(1), merged: commit(3), works: [name] };
  team.as('@system', 'landing.begin', landing);
  return { state: team.state, landing: landing.landingId };
}

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
