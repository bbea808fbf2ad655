import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide } from '../../src/core/decide.ts';
import { evolve } from '../../src/core/evolve.ts';
import { openSnapshot, takeSnapshot } from '../../src/core/snapshot.ts';
import { changeMark, createState, keepChanges, noteChanges, takeBackTo } from '../../src/core/state.ts';
import type { TeamState } from '../../src/core/state.ts';
import { tries } from '../proof.ts';
import { copyOf, picture } from './picture.ts';
import { OPENING, play, steps, toCommand, tryOne } from './random-team.ts';
import { teamOf } from './stage.ts';

describe('a state', () => {
  test('is rolled back completely, whatever happened since', () => {
    fc.assert(
      fc.property(steps(), steps(), (before, after) => {
        const state = opened(before);
        const was = picture(state);
        noteChanges(state);
        play(state, after, 1000);
        takeBackTo(state, 0);
        keepChanges(state);
        expect(picture(state)).toEqual(was);
      }),
      tries(40),
    );
  });

  test('is rolled back to a mark, and from there to the beginning', () => {
    fc.assert(
      fc.property(steps(), steps(30), steps(30), steps(30), (before, kept, dropped, after) => {
        const state = opened(before);
        const was = picture(state);
        noteChanges(state);
        play(state, kept, 1000);
        const mark = changeMark(state);
        const then = picture(state);
        play(state, dropped, 2000);
        takeBackTo(state, mark);
        expect(picture(state)).toEqual(then);
        play(state, after, 3000);
        takeBackTo(state, 0);
        expect(picture(state)).toEqual(was);
      }),
      tries(27),
    );
  });

  test('goes on after a rollback as if the step had not happened', () => {
    fc.assert(
      fc.property(steps(), steps(30), steps(), (before, dropped, after) => {
        const state = opened(before);
        const twin = copyOf(state);
        noteChanges(state);
        play(state, dropped, 1000);
        takeBackTo(state, 0);
        keepChanges(state);
        play(state, after, 2000);
        play(twin, after, 2000);
        expect(picture(state)).toEqual(picture(twin));
      }),
      tries(27),
    );
  });

  test('is the same live, replayed from JSON, or opened from a snapshot', () => {
    fc.assert(
      fc.property(steps(100), (story) => {
        const live = createState('alpha');
        const events = [...play(live, OPENING), ...play(live, story, 1000)];
        const replayed = createState('alpha');
        for (const event of events) evolve(replayed, JSON.parse(JSON.stringify(event)));
        expect(picture(replayed)).toEqual(picture(live));
        expect(picture(reopened(live))).toEqual(picture(live));
      }),
      tries(40),
    );
  });

  test('goes on from a snapshot as the original does', () => {
    fc.assert(
      fc.property(steps(), steps(), (before, after) => {
        const live = opened(before);
        const copy = reopened(live);
        play(live, after, 1000);
        play(copy, after, 1000);
        expect(picture(copy)).toEqual(picture(live));
      }),
      tries(40),
    );
  });

  test('decides from its records only, not from the order of their creation', () => {
    const team = teamOf('ann');
    const [a, b] = [team.task(), team.task()] as const;
    const sides = [a, b].map((id) => team.task({ dependencies: [id], onDependencyFailure: 'fail' }));
    const top = team.task();
    team.do('task.addDependencies', { taskId: b, dependencies: [top] });
    team.do('task.addDependencies', { taskId: a, dependencies: [top] });
    const last = team.task({ dependencies: sides, onDependencyFailure: 'fail' });
    for (const taskId of [a, b]) team.do('task.update', { taskId, onDependencyFailure: 'fail' });
    for (const taskId of [b, a]) team.do('task.assign', { taskId, assigneeId: 'ann' });
    const command = (type: 'task.fail' | 'member.leave') =>
      type === 'task.fail'
        ? ({ type, at: 1, by: 'lead', taskId: top, reason: 'no' } as const)
        : ({ type, at: 1, by: 'lead', memberId: 'ann', returning: false } as const);
    for (const type of ['task.fail', 'member.leave'] as const) {
      const events = decide(team.state, command(type));
      expect(decide(reopened(team.state), command(type))).toEqual(events);
      expect(events.slice(1).map((event) => (event as { taskId: string }).taskId)).toEqual(
        type === 'task.fail' ? [a, b, ...sides, last] : [a, b],
      );
    }
  });

  test('is rolled back correctly if recording continues after a rollback', () => {
    const state = opened([]);
    expect(changeMark(state)).toBe(0);
    takeBackTo(state, 0);
    const was = picture(state);
    noteChanges(state);
    tryOne(state, toCommand(state, { type: 'member.join', by: 'lead', input: { name: 'cyd' }, commandId: 'c' }, 1));
    expect(changeMark(state)).toBeGreaterThan(0);
    takeBackTo(state, 0);
    expect(changeMark(state)).toBe(0);
    expect(picture(state)).toEqual(was);
  });
});

function opened(story: Parameters<typeof play>[1]): TeamState {
  const state = createState('alpha');
  play(state, OPENING);
  play(state, story, 100);
  return state;
}

function reopened(state: TeamState): TeamState {
  return openSnapshot(state.teamId, takeSnapshot(state)) as TeamState;
}

test('changes that are kept cannot be taken back, and nothing is recorded any more', () => {
  const { state } = teamOf('ann');
  noteChanges(state);
  expect(state.undo).toEqual([]);
  keepChanges(state);
  expect(state.undo).toBeUndefined();
});

test('the receipt of a command has only what it is about', () => {
  const team = teamOf('ann');
  // As in a journal of a version without prints.
  evolve(team.state, { type: 'team:updated', at: team.now, by: '@user', cause: 'c1', description: 'new' });
  expect(team.state.receipts.get('c1')).toStrictEqual({ by: '@user' });
});

test('a team that changed is as before after a rollback', () => {
  const team = teamOf('ann');
  noteChanges(team.state);
  const before = team.state.team;
  team.as('@user', 'team.update', { leadId: 'ann', description: 'new' });
  expect(team.state.team?.leadTerm).toBe((before?.leadTerm ?? 0) + 1);
  takeBackTo(team.state, 0);
  expect(team.state.team).toEqual(before);
});
