import { describe, expect, test } from 'vitest';
import { wordUnmerged } from '../../src/cli/show/unmerged.ts';

const BASE = {
  workspaces: 'own',
  repository: '/project',
  depot: '/depot',
  branch: 'troupe/demo',
  files: 0,
  added: 0,
  removed: 0,
} as const;
const [A, B] = ['a'.repeat(40), 'b'.repeat(40)];

describe('what a deleted team never merged', () => {
  test('is nothing if all is merged or nothing was made', () => {
    expect(wordUnmerged({ ...BASE, base: A, tip: A }, { teamId: 'demo', isMerged: false })).toBe('');
    expect(wordUnmerged({ ...BASE, base: A, tip: B }, { teamId: 'demo', isMerged: true })).toBe('');
  });

  test('is the branch, conflicted work, work that was not handed in, and kept work', () => {
    const size = { files: 1, added: 2, removed: 3 };
    const member = { memberId: 'ann', folder: '/w', slot: 0, base: A, behind: 0, size: 1, ...size };
    const task = { taskId: '2', title: 'Two', memberId: 'bob', epoch: 1, base: A, ...size };
    const text = wordUnmerged(
      {
        ...BASE,
        ...size,
        base: A,
        tip: B,
        members: [member, { ...member, memberId: 'eve', files: 0 }],
        tasks: [
          { ...task, state: 'conflicted' },
          { ...task, taskId: '3', state: 'landed' },
        ],
        kept: [{ memberId: 'bob', commit: B, ref: 'refs/kept/demo/bob/b', at: 0 }],
      },
      { teamId: 'demo', isMerged: false },
    );
    expect(text.split('\n')).toEqual([
      'Never merged, with the command that saves it:',
      '  troupe/demo: 1 file (+2 -3) that no other branch of /project has',
      '    troupe merge --team demo',
      '  task #2 of bob: 1 file (+2 -3), which conflict with the branch',
      '    troupe patch 2 --team demo -o demo-2.patch',
      '  ann: 1 file (+2 -3), not handed in',
      '    troupe patch ann --team demo -o demo-ann.patch',
      '  bob: bbbbbbb, put away earlier',
      '    git -C /project fetch /depot refs/kept/demo/bob/b:refs/heads/kept/demo-bob-bbbbbbb',
      'After the team is deleted, troupe work clean lists it.',
      '',
    ]);
  });
});
