import { describe, expect, test } from 'vitest';
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
    team.as('ann', 'request.raise', { kind: 'budget', memberId: 'ann', content: 'more?', within: 5, detail: { a: 1 } });
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

  test.each(['', '{', 'null', '7', '"text"', '[]', '{}', '{"format":0}', '{"format":1}', '{"format":99,"tasks":[]}'])(
    'of another format is not read: %s',
    (body) => {
      expect(openSnapshot('alpha', body)).toBeUndefined();
    },
  );
});
