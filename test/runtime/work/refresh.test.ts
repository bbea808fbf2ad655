import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { refreshWork } from '../../../src/runtime/work/refresh.ts';
import type { TeamWorks } from '../../../src/runtime/work/team-works.ts';
import { write } from '../../workspaces/project.ts';
import { openStage, TEAM } from './stage.ts';

/** The same works, in which a file is written right after the first save of a workspace. */
function writingAfterSave(works: TeamWorks, files: Record<string, string>): TeamWorks {
  let isDone = false;
  const workspaceOf: TeamWorks['workspaceOf'] = async (worker) => {
    const workspace = await works.workspaceOf(worker);
    const save: typeof workspace.save = async (signal) => {
      const saved = await workspace.save(signal);
      if (!isDone) write(workspace.folder, files);
      isDone = true;
      return saved;
    };
    return Object.create(workspace, { save: { value: save } }) as typeof workspace;
  };
  return Object.create(works, { workspaceOf: { value: workspaceOf } }) as TeamWorks;
}

test.for([
  ['with work of its own', { 'a.txt': '1\n2\n3\n4\n5\n6\n7\n8\nann\n' }],
  ['without any', {}],
] as const)('a refresh of a folder %s keeps what is written while it is under way', async ([, own]) => {
  const stage = await openStage();
  const { id } = await stage.tasks.createTask(TEAM, 'lead', { title: 'For ann', assigneeId: 'ann' });
  const folder = await stage.claim('ann', id);
  write(folder, own);
  await stage.complete('bob', await stage.begin('bob', { 'b.txt': 'bob\n' }));

  const writing = writingAfterSave(stage.works, { 'late.txt': 'late\n' });
  const { behind } = await refreshWork(stage.ledger, writing, { teamId: TEAM, memberId: 'ann', isOwner: true });
  expect(behind).toBe(1);
  const expected = { 'b.txt': 'bob\n', 'late.txt': 'late\n', ...own };
  const found = Object.keys(expected).map((path) => [path, readFileSync(join(folder, path), 'utf8')]);
  expect(Object.fromEntries(found)).toEqual(expected);
});
