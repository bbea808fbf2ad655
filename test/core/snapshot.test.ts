import { describe, expect, test } from 'vitest';
import type { TeamEvent } from '../../src/core/event.ts';
import { evolve } from '../../src/core/evolve.ts';
import { openSnapshot, takeSnapshot } from '../../src/core/snapshot.ts';
import { createState } from '../../src/core/state.ts';
import { picture } from './picture.ts';
import { teamOf } from './stage.ts';

describe('a snapshot', () => {
  test('holds a team before its first event', () => {
    const opened = openSnapshot('alpha', takeSnapshot(createState('alpha')));
    expect(opened && picture(opened)).toEqual(picture(createState('alpha')));
  });

  test('holds a closed team with everything in it', () => {
    const team = teamOf('ann', 'bob');
    // The first depends on the second, which the snapshot lists after it.
    team.task();
    team.task({ priority: 'high', metadata: { a: [1] } });
    team.do('task.addDependencies', { taskId: '1', dependencies: ['2'] });
    team.as('ann', 'task.claim', { taskId: '2' });
    team.do('message.broadcast', { messageId: 'b1', content: 'x' });
    team.as('ann', 'message.read', { memberId: 'ann', messageIds: ['b1/ann'] });
    team.as('ann', 'plan.submit', { content: 'p' });
    team.as('ann', 'request.raise', {
      kind: 'permission',
      memberId: 'ann',
      content: 'more?',
      within: 5,
      detail: { a: 1 },
    });
    for (const text of ['one', 'two', 'three']) team.as('ann', 'note.add', { text, tags: ['t'] });
    team.as('ann', 'note.remove', { noteId: '2' });
    team.as('@user', 'hook.register', { hook: { type: 'TaskCompleted', command: 'npm test', env: ['PATH'] } });
    team.as('@system', 'task.reject', { taskId: '2', feedback: 'again' });
    team.do('member.join', { name: 'cyd', agent: { kind: 'exec', command: ['true'] }, status: 'spawning' });
    team.as('@system', 'member.place', { memberId: 'cyd', hostId: 'h1' });
    team.as('ann', 'usage.record', { memberId: 'ann', taskId: '1', usage: { costUsd: 0.1 } }, 'c1');
    const open = () => openSnapshot('alpha', takeSnapshot(team.state));
    expect(open()).toMatchObject({ teamId: 'alpha', nextTask: 3, nextNote: 4 });
    expect(picture(open() ?? createState(''))).toEqual(picture(team.state));
    team.do('team.close', { force: true });
    expect(picture(open() ?? createState(''))).toEqual(picture(team.state));
    expect(open()?.team?.closedAt).toBeInstanceOf(Date);
  });

  test('holds why a task cannot be claimed', () => {
    const team = teamOf('ann');
    const withheld = team.task();
    const free = team.task();
    const at = team.now;
    evolve(team.state, { type: 'task:updated', at, by: '@system', taskId: withheld, withheld: 'its file is broken' });
    const task = { title: 'new', description: '', priority: 'low', dependencies: [], onDependencyFailure: 'block' };
    evolve(team.state, { type: 'task:created', at, by: 'ann', taskId: '3', ...task, unjudged: true } as TeamEvent);
    const opened = openSnapshot('alpha', takeSnapshot(team.state)) ?? createState('');
    expect(picture(opened)).toEqual(picture(team.state));
    expect(opened.tasks.get(withheld)?.withheld).toBe('its file is broken');
    expect(opened.tasks.get('3')?.unjudged).toBe(true);
    expect(opened.tasks.get(free)).toMatchObject({ withheld: undefined, unjudged: undefined });
  });

  test('holds a task whose work was put aside', () => {
    const team = teamOf('ann');
    team.task();
    team.as('ann', 'task.claim', { taskId: '1' });
    const about = { at: team.now, by: '@system', taskId: '1', memberId: 'ann' };
    evolve(team.state, { ...about, type: 'work:begun', epoch: 1, base: 'b' });
    evolve(team.state, { ...about, type: 'work:kept', commit: 'c', ref: 'refs/saves/alpha/ann', why: 'it goes on' });
    expect(team.view('1').work).toMatchObject({ aside: 'c' });
    const opened = openSnapshot('alpha', takeSnapshot(team.state)) ?? createState('');
    expect(picture(opened)).toEqual(picture(team.state));
  });

  test('has only the fields that some record uses, and times as numbers', () => {
    const team = teamOf('ann');
    team.task();
    team.do('message.send', { messageId: 'm1', toId: 'ann', content: 'x' });
    const form = JSON.parse(takeSnapshot(team.state)) as Record<
      'tasks' | 'messages',
      { values: object; count: number }
    >;
    expect(form.tasks).toMatchObject({ count: 1, values: { id: ['1'], createdAt: [team.now - 1000] } });
    expect(form.messages.values).toMatchObject({ sentAt: [team.now] });
    for (const name of ['lease', 'leaseUntil', 'startedAt', 'files', 'result']) {
      expect(form.tasks.values).not.toHaveProperty(name);
    }
    const short = { ...form, tasks: { ...form.tasks, count: 2 } };
    expect(() => openSnapshot('alpha', JSON.stringify(short))).toThrow('of 1 records instead of 2');
  });

  test('with other fields of a task or a message is not read', () => {
    const team = teamOf('ann');
    team.task();
    const body = takeSnapshot(team.state);
    const { fields } = JSON.parse(body) as { fields: { task: string[]; message: string[] } };
    expect(fields.task).toContain('withheld');
    expect(fields.message).toContain('formerSessions');
    for (const name of ['"withheld"', '"formerSessions"']) {
      expect(openSnapshot('alpha', body)).toBeDefined();
      expect(openSnapshot('alpha', body.replace(name, '"other"'))).toBeUndefined();
      expect(openSnapshot('alpha', body.replace(`${name},`, ''))).toBeUndefined();
    }
  });

  test.each(['', '{', 'null', '7', '"text"', '[]', '{}', '{"format":0}', '{"format":1}', '{"format":99,"tasks":[]}'])(
    'of another format is not read: %s',
    (body) => {
      expect(openSnapshot('alpha', body)).toBeUndefined();
    },
  );
});
