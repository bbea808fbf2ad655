import { describe, expect, test } from 'vitest';
import { NOTES_PER_TEAM } from '../../../src/core/limits.ts';
import type { TeamNote } from '../../../src/core/note.ts';
import { noteChanges, takeBackTo } from '../../../src/core/state.ts';
import { teamOf, types } from '../stage.ts';
import type { Stage } from '../stage.ts';

describe('a note', () => {
  test.each(['ann', 'lead', '@user', '@system'])('is written by %s', (by) => {
    const team = teamOf('ann');
    expect(types(team.as(by, 'note.add', { text: 'The port is 80', tags: ['net'] }))).toEqual(['note:added']);
    expect(note(team, '1')).toEqual({
      id: '1',
      teamId: 'alpha',
      authorId: by,
      text: 'The port is 80',
      tags: ['net'],
      createdAt: expect.any(Date) as Date,
      updatedAt: note(team, '1').createdAt,
      revision: 1,
    });
  });

  test('is not written by a stopped or unknown member', () => {
    const team = teamOf('ann');
    team.do('member.leave', { memberId: 'ann' });
    expect(team.refuse('ann', 'note.add', { text: 'x' }).code).toBe('member_stopped');
    expect(team.refuse('eve', 'note.add', { text: 'x' }).code).toBe('not_found');
  });

  test('has an id that is never used again', () => {
    const team = teamOf('ann');
    for (const text of ['one', 'two']) team.as('ann', 'note.add', { text });
    team.as('ann', 'note.remove', { noteId: '2' });
    team.as('ann', 'note.add', { text: 'three' });
    expect([...team.state.notes.keys()]).toEqual(['1', '3']);
  });

  test('is one of a limited number; removing one makes room', () => {
    const team = teamOf('ann');
    team.as('ann', 'note.add', { text: 'first' });
    const first = note(team, '1');
    for (let i = 2; i <= NOTES_PER_TEAM; i++) team.state.notes.set(String(i), { ...first, id: String(i) });
    expect(team.refuse('lead', 'note.add', { text: 'one more' })).toMatchObject({
      code: 'limit',
      message: `Team alpha has ${NOTES_PER_TEAM} notes, the limit: remove some`,
    });
    team.as('ann', 'note.remove', { noteId: '1' });
    team.do('note.add', { text: 'one more' });
  });
});

describe('a change of a note', () => {
  test('changes what it mentions, and keeps the author', () => {
    const team = teamOf('ann');
    team.as('ann', 'note.add', { text: 'one', tags: ['a'] });
    const { createdAt } = note(team, '1');
    team.do('note.update', { noteId: '1', text: 'two' });
    expect(note(team, '1')).toMatchObject({ authorId: 'ann', text: 'two', tags: ['a'], createdAt, revision: 2 });
    expect(note(team, '1').updatedAt.getTime()).toBeGreaterThan(createdAt.getTime());
    team.as('ann', 'note.update', { noteId: '1', tags: [], revision: 2 });
    expect(note(team, '1')).toMatchObject({ text: 'two', tags: [], revision: 3 });
  });

  test('is refused to a caller that saw an older revision', () => {
    const team = teamOf('ann');
    team.as('ann', 'note.add', { text: 'one' });
    team.as('ann', 'note.update', { noteId: '1', text: 'two', revision: 1 });
    expect(team.refuse('ann', 'note.update', { noteId: '1', text: 'three', revision: 1 })).toMatchObject({
      code: 'stale_revision',
      message: 'Note 1 is at revision 2, not 1: read it again',
    });
    expect(note(team, '1').text).toBe('two');
  });

  test.each(['note.update', 'note.remove'] as const)(
    'is made by its author and by managers (lead, person, Troupe): %s',
    (type) => {
      for (const by of ['ann', 'lead', '@user', '@system']) {
        const team = teamOf('ann', 'bob');
        team.as('ann', 'note.add', { text: 'one' });
        expect(team.refuse('bob', type, { noteId: '1' })).toMatchObject({
          code: 'not_allowed',
          message: 'bob may not change the note of ann: ask lead or a person',
        });
        expect(team.as(by, type, { noteId: '1' })).toHaveLength(1);
      }
    },
  );

  test.each(['note.update', 'note.remove'] as const)('is refused to a stopped author: %s', (type) => {
    const team = teamOf('ann');
    team.as('ann', 'note.add', { text: 'one' });
    team.do('member.leave', { memberId: 'ann' });
    expect(team.refuse('ann', type, { noteId: '1' }).code).toBe('member_stopped');
  });

  test.each(['note.update', 'note.remove'] as const)('needs a note: %s', (type) => {
    expect(teamOf().refuse('lead', type, { noteId: '7' })).toMatchObject({
      code: 'not_found',
      message: 'Team alpha has no note "7"',
    });
  });
});

describe('a removed note', () => {
  test('is gone', () => {
    const team = teamOf('ann');
    team.as('ann', 'note.add', { text: 'one' });
    expect(types(team.as('ann', 'note.remove', { noteId: '1' }))).toEqual(['note:removed']);
    expect(team.state.notes.size).toBe(0);
    expect(team.refuse('ann', 'note.remove', { noteId: '1' }).code).toBe('not_found');
  });

  test('returns to its place after a rollback', () => {
    const team = teamOf('ann');
    for (const text of ['one', 'two', 'three']) team.as('ann', 'note.add', { text });
    noteChanges(team.state);
    team.as('ann', 'note.remove', { noteId: '1' });
    team.as('ann', 'note.add', { text: 'four' });
    team.as('ann', 'note.remove', { noteId: '3' });
    takeBackTo(team.state, 0);
    expect([...team.state.notes.values()].map(({ text }) => text)).toEqual(['one', 'two', 'three']);
    expect(team.state.nextNote).toBe(4);
  });
});

function note(team: Stage, id: string): TeamNote {
  return team.state.notes.get(id) as TeamNote;
}
