import { expect, test } from 'vitest';
import type { NativeTeam } from '../../src/bridge/snapshot.ts';
import { summarize } from '../../src/operations/native-views.ts';

test('says what each member of a native team works on, whether its task names it or its id', () => {
  const task = (id: string, owner: string, more: object = {}) => [
    id,
    { id, subject: `Task ${id}`, status: 'in_progress', owner, ...more },
  ];
  const names = ['team-lead', 'ann', 'bob', 'cleo'];
  const team = {
    name: 'demo',
    kind: 'team',
    form: 'known',
    config: { name: 'demo', members: names.map((name) => ({ name, agentId: `${name}@demo` })) },
    inboxes: new Map(),
    tasks: new Map([
      task('1', 'ann', { status: 'completed' }),
      task('2', 'ann'),
      task('3', 'bob@demo'),
      task('4', 'cleo', { metadata: { _internal: true } }),
    ] as [string, never][]),
    problems: [],
    changedAt: 0,
  } as unknown as NativeTeam;
  expect(summarize(team).members.map(({ currentTask }) => currentTask)).toEqual([
    undefined,
    'Task 2',
    'Task 3',
    undefined,
  ]);
});
