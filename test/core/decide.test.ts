import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CommandType } from '../../src/core/command.ts';
import { decide } from '../../src/core/decide.ts';
import { fingerprintOf } from '../../src/core/fingerprint.ts';
import { REMEMBERED_COMMANDS } from '../../src/core/limits.ts';
import { createState, keepChanges, noteChanges } from '../../src/core/state.ts';
import { tries } from '../proof.ts';
import { COMMANDS, sceneOf } from '../samples/commands.ts';
import { copyOf, picture } from './picture.ts';
import { decideOrRefuse, OPENING, play, steps, toCommand, tryOne } from './random-team.ts';
import { commandOf, Stage, teamOf, types } from './stage.ts';

const TYPES = Object.keys(COMMANDS) as CommandType[];

test.each(['constructor', '__proto__', 'toString', 'task.nothing', ''])('there is no command %j', (type) => {
  const command = { ...commandOf('task.claim', {}, { by: 'ann', at: 0 }), type } as never;
  expect(() => decide(teamOf('ann').state, command)).toThrow(
    expect.objectContaining({ code: 'invalid', message: `There is no command ${JSON.stringify(type)}` }),
  );
});

describe('every command', () => {
  test.each(TYPES.filter((type) => type !== 'team.create'))('causes its events: %s', (type) => {
    const { team, by, input } = sceneOf(type);
    expect(types(team.as(by, type, input))).toEqual(COMMANDS[type].events);
  });

  test.each(TYPES.filter((type) => type !== 'usage.record'))(
    'is refused in a closed team, which is read-only: %s',
    (type) => {
      const { team, by, input } = sceneOf(type);
      team.as('@user', 'team.close', { force: true });
      const before = picture(team.state);
      for (const actor of [by, '@user', '@system']) {
        expect(team.refuse(actor, type, input)).toMatchObject(
          type === 'team.create'
            ? { code: 'exists', message: 'Team alpha exists: choose another name or use it' }
            : { code: 'team_closed', message: 'Team alpha is closed: it can be read, not changed' },
        );
      }
      expect(picture(team.state)).toEqual(before);
    },
  );

  test.each(TYPES.filter((type) => type !== 'team.create'))('is refused if there is no team: %s', (type) => {
    const { by, input } = sceneOf(type);
    for (const actor of [by, '@user']) {
      expect(new Stage().refuse(actor, type, input)).toMatchObject({
        code: 'not_found',
        message: 'There is no team "alpha": list the teams to see which exist, or create it',
      });
    }
  });

  test.each(TYPES.filter((type) => type !== 'team.create'))(
    'is refused to a caller that is not a member: %s',
    (type) => {
      const { team, input } = sceneOf(type);
      const { code } = team.refuse('mallory', type, input);
      expect(['not_found', 'not_allowed']).toContain(code);
    },
  );

  test.each(TYPES.filter((type) => type !== 'team.create'))('is refused to a stopped member: %s', (type) => {
    const { team, by, input } = sceneOf(type);
    team.join('dan').do('member.leave', { memberId: 'dan' });
    const { code } = team.refuse('dan', type, input);
    expect(['member_stopped', 'not_allowed']).toContain(code);
    if (by === 'lead' || by.includes('@')) return;
    // Usage still counts, as the tests of usage show.
    if (type === 'usage.record') return;
    team.do('member.leave', { memberId: by });
    expect(team.refuse(by, type, input)).toMatchObject({ code: 'member_stopped' });
  });

  test.each(TYPES.filter((type) => type !== 'team.create'))('is done once per id: %s', (type) => {
    const { team, by, input } = sceneOf(type);
    expect(team.as(by, type, input, 'c1').length).toBeGreaterThan(0);
    const before = picture(team.state);
    expect(team.as(by, type, input, 'c1')).toEqual([]);
    expect(team.refuse('bob' === by ? 'ann' : 'bob', type, input, 'c1')).toMatchObject({
      code: 'conflict',
      message: 'Command id "c1" is used by another caller: take a new one',
    });
    expect(picture(team.state)).toEqual(before);
  });

  test.each(TYPES)('uses no clock and no randomness: %s', (type) => {
    const { team, by, input } = sceneOf(type);
    const stage = type === 'team.create' ? new Stage() : team;
    withoutClockAndChance(() => stage.as(by, type, input));
    expect(stage.events.length).toBeGreaterThan(0);
  });
});

describe('decide', () => {
  test('changes nothing and returns the same each time, for any command', () => {
    fc.assert(
      fc.property(steps(40), (story) => {
        const state = createState('alpha');
        play(state, OPENING);
        for (const [i, step] of story.entries()) {
          const command = deepFreeze(toCommand(state, step, 100 + i));
          freezeRecords(state);
          const twin = copyOf(state);
          const before = picture(state);
          const events = decideOrRefuse(state, command);
          expect(picture(state)).toEqual(before);
          expect(decideOrRefuse(state, command)).toEqual(events);
          expect(decideOrRefuse(twin, command)).toEqual(events);
          tryOne(state, command);
        }
      }),
      tries(10),
    );
  });

  test('puts time, actor and command id into every event', () => {
    const { state } = sceneOf('member.leave').team;
    const command = commandOf('member.leave', { memberId: 'ann' }, { by: 'lead', at: 42, commandId: 'c1' });
    const events = decide(state, command);
    expect(events.length).toBeGreaterThan(1);
    for (const event of events) expect(event).toMatchObject({ at: 42, by: 'lead', cause: 'c1' });
    const [event] = decide(state, commandOf('member.leave', { memberId: 'ann' }, { by: 'lead', at: 42 }));
    expect(event).not.toHaveProperty('cause');
  });
});

describe('the receipt of a command', () => {
  test('has what the command was about', () => {
    const { team } = sceneOf('task.create');
    const receipt = (id: string) => {
      const { print, ...others } = team.state.receipts.get(id) ?? {};
      expect(print).toMatch(/^[0-9a-z]+$/);
      return others;
    };
    team.do('task.create', { title: 't' });
    team.as('ann', 'task.create', { title: 't' }, 'c1');
    team.as('bob', 'task.claim', {}, 'c2');
    team.as('lead', 'member.join', { name: 'eve' }, 'c3');
    team.as('ann', 'message.broadcast', { messageId: 'b9', content: 'x' }, 'c4');
    team.as('bob', 'plan.submit', { content: 'p' }, 'c5');
    team.as('lead', 'team.update', { description: 'new' }, 'c6');
    team.as('ann', 'note.add', { text: 'x' }, 'c7');
    team.as('ann', 'request.raise', { kind: 'permission', memberId: 'ann', taskId: '1', content: 'x' }, 'c8');
    team.as('@user', 'hook.remove', { hookType: 'TeammateIdle' }, 'c9');
    expect(receipt('c1')).toEqual({ by: 'ann', taskId: '6' });
    expect(receipt('c2')).toEqual({ by: 'bob', taskId: '2', memberId: 'bob' });
    expect(receipt('c3')).toEqual({ by: 'lead', memberId: 'eve' });
    expect(receipt('c4')).toEqual({ by: 'ann', messageIds: ['b9/lead', 'b9/bob', 'b9/eve'] });
    expect(receipt('c5')).toMatchObject({ by: 'bob', memberId: 'bob', requestId: expect.any(String) as string });
    expect(receipt('c6')).toEqual({ by: 'lead' });
    expect(receipt('c7')).toEqual({ by: 'ann', noteId: '2' });
    expect(receipt('c8')).toMatchObject({
      by: 'ann',
      memberId: 'ann',
      taskId: '1',
      requestId: expect.stringMatching(/^permission-\d+@ann$/) as string,
    });
    expect(receipt('c9')).toEqual({ by: '@user' });
  });

  test('is from its first event', () => {
    const { team } = sceneOf('task.complete');
    team.as('ann', 'task.complete', { taskId: '1' }, 'c1');
    expect(team.state.receipts.get('c1')).toMatchObject({ by: 'ann', memberId: 'ann', taskId: '1' });
  });

  test('conflicts with another command under the same id', () => {
    const team = teamOf('ann', 'bob');
    expect(team.as('ann', 'task.create', { title: 'first' }, 'c1')).toHaveLength(1);
    expect(team.as('ann', 'task.create', { title: 'first' }, 'c1')).toEqual([]);
    const used = { code: 'conflict', message: 'Command id "c1" was used for another command: take a new one' };
    expect(team.refuse('ann', 'task.create', { title: 'second' }, 'c1')).toMatchObject(used);
    expect(team.refuse('ann', 'task.claim', {}, 'c1')).toMatchObject(used);
    expect(team.refuse('bob', 'task.create', { title: 'first' }, 'c1').message).toContain('used by another caller');
    // Epoch and revision are what the caller saw, not what it wants: they may differ.
    team.as('ann', 'task.claim', { taskId: '1' }, 'c2');
    team.as('ann', 'task.complete', { taskId: '1', result: 'x', epoch: 1, revision: 2 }, 'c3');
    expect(team.as('ann', 'task.complete', { taskId: '1', result: 'x' }, 'c3')).toEqual([]);
    expect(team.refuse('ann', 'task.complete', { taskId: '1', result: 'y' }, 'c3')).toMatchObject({ code: 'conflict' });
  });

  test('does not exist if the command caused no event', () => {
    const team = teamOf('ann');
    expect(team.as('ann', 'task.claim', {}, 'c1')).toEqual([]);
    expect(team.state.receipts.size).toBe(0);
    const taskId = team.task();
    expect(team.as('ann', 'task.claim', {}, 'c1')).toMatchObject([{ taskId }]);
  });

  test('is forgotten after thousands of newer ones', () => {
    const team = teamOf();
    const create = (id: string) => team.as('lead', 'task.create', { title: id }, id);
    for (let i = 0; i < REMEMBERED_COMMANDS; i++) create(`c${i}`);
    expect(create('c0')).toEqual([]);
    create('next');
    expect(team.state.receipts.size).toBe(REMEMBERED_COMMANDS);
    expect(create('c1')).toEqual([]);
    expect(create('c0')).toHaveLength(1);
    expect([...team.state.receipts.keys()].at(0)).toBe('c2');
  });

  test('is not forgotten while a rollback is possible', () => {
    const team = teamOf();
    noteChanges(team.state);
    for (let i = 0; i < REMEMBERED_COMMANDS + 3; i++) team.as('lead', 'task.create', { title: 't' }, `c${i}`);
    expect(team.state.receipts.size).toBe(REMEMBERED_COMMANDS + 3);
    keepChanges(team.state);
    expect(team.state.receipts.size).toBe(REMEMBERED_COMMANDS);
    expect([...team.state.receipts.keys()].at(0)).toBe('c3');
  });
});

function withoutClockAndChance(run: () => void): void {
  const forbidden = () => {
    throw new Error('the core read a clock or threw dice');
  };
  const { Date: RealDate, performance, crypto } = globalThis;
  const { random } = Math;
  class StoppedDate extends RealDate {
    constructor(...args: readonly unknown[]) {
      if (args.length === 0) forbidden();
      super(...(args as [number]));
    }
    static override now = forbidden;
  }
  const replace = (name: string, value: unknown) =>
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  replace('Date', StoppedDate);
  replace('performance', { now: forbidden });
  replace('crypto', { randomUUID: forbidden, getRandomValues: forbidden });
  Math.random = forbidden;
  try {
    run();
  } finally {
    replace('Date', RealDate);
    replace('performance', performance);
    replace('crypto', crypto);
    Math.random = random;
  }
}

function freezeRecords(state: ReturnType<typeof createState>): void {
  deepFreeze(state.team);
  const { members, tasks, messages, requests, notes, receipts, broadcasts } = state;
  for (const table of [members, tasks, messages, requests, notes, receipts, broadcasts]) {
    for (const record of table.values()) deepFreeze(record);
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const item of Object.values(value)) deepFreeze(item);
  return value;
}

test('the fingerprint of a command is stored, and one of an earlier version is not missed', () => {
  const team = teamOf('ann');
  const command = { ...commandOf('task.create', { title: 'a' }, { by: 'lead', at: 1, commandId: 'c1' }), print: 'p1' };
  expect(decide(team.state, command)).toMatchObject([{ type: 'task:created', print: 'p1' }]);
  team.state.receipts.set('c1', { by: 'lead' });
  expect(decide(team.state, command)).toEqual([]);
  team.state.receipts.set('c1', { by: 'lead', print: 'p2' });
  expect(() => decide(team.state, command)).toThrow('was used for another command');
});

test('the fingerprint of a command is the same in every version, and of a long one its beginning and length count', () => {
  const of = (title: string) => fingerprintOf({ type: 'task.create', by: 'ann', at: 1, title } as never);
  expect([of('a'), of('x'.repeat(10_000))]).toEqual(['mf2yoj', 'djfw16']);
  expect(of(`${'x'.repeat(9_999)}y`)).toBe(of('x'.repeat(10_000)));
  expect(of('x'.repeat(9_999))).not.toBe(of('x'.repeat(10_000)));
});
