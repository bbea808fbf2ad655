import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { SYSTEM } from '../../../src/core/actor.ts';
import { answerRequest } from '../../../src/ledger/answer-request.ts';
import { write } from '../../workspaces/project.ts';
import { openStage, TEAM } from './stage.ts';

test('a person who accepts work hears what no save had of it', async () => {
  const stage = await openStage();
  const id = await stage.begin('ann', { 'one.txt': 'one\n', 'vendor/.git/HEAD': 'ref: refs/heads/main\n' });
  const { folder } = (await stage.works.open({ teamId: TEAM, memberId: 'ann' }))!;
  write(folder, { 'vendor/.git/objects/.keep': '', 'vendor/.git/refs/.keep': '' });
  const asked = { type: 'request.raise', by: SYSTEM, memberId: 'ann', kind: 'gate', taskId: id, content: '?' } as const;
  await stage.ledger.execute(TEAM, asked, () => undefined);
  const [requestId = ''] = await stage.ledger.view(TEAM, ({ requests }) => [...requests.keys()]);
  const input = { requestId, approve: true };
  const answered = await answerRequest(stage.ledger, stage.works, { teamId: TEAM, input, once: {} });
  expect(answered).toMatchObject({
    status: 'approved',
    unsaved: [expect.stringMatching(/^vendor\/? is a git repository/)],
  });
  expect(await stage.show('one.txt')).toBe('one');
  expect(stage.errors).toEqual([]);
});

test('what a task left and no save can hold is not in the way of the next one, and its member is told', async () => {
  const stage = await openStage();
  await stage.begin('ann', {
    'one.txt': 'one\n',
    'vendor/.git/HEAD': 'ref: refs/heads/main\n',
    'vendor/lib.txt': 'lib\n',
  });
  const { folder } = (await stage.works.open({ teamId: TEAM, memberId: 'ann' }))!;
  write(folder, { 'vendor/.git/objects/.keep': '', 'vendor/.git/refs/.keep': '', '.env': 'ignored\n' });
  rmSync(join(folder, 'a.txt'));
  execFileSync('mkfifo', [join(folder, 'a.txt')]);
  await expect(stage.complete('ann', '1')).rejects.toMatchObject({
    message: expect.stringContaining('vendor'),
  });
  // The same task goes on with its own files.
  expect(existsSync(join(folder, 'vendor'))).toBe(true);
  const failed = { type: 'task.fail', by: 'ann', taskId: '1', reason: 'I give up' } as const;
  await stage.ledger.execute(TEAM, failed, () => undefined);

  await stage.begin('ann', { 'two.txt': 'two\n' });
  expect(existsSync(join(folder, 'vendor'))).toBe(false);
  expect(readFileSync(join(folder, '.env'), 'utf8')).toBe('ignored\n');
  expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toMatch(/^1\n2\n/);
  const [kept = ''] = globSync(join(dirname(dirname(dirname(folder))), 'trash', '*', 'vendor', 'lib.txt'));
  expect(readFileSync(kept, 'utf8')).toBe('lib\n');
  const mail = await stage.ledger.view(TEAM, ({ messages }) => [...messages.values()]);
  expect(mail.map(({ toId, content }) => [toId, content])).toEqual(
    ['lead', 'ann'].map((id) => [
      id,
      expect.stringMatching(/^An earlier task left .*vendor.* in the workspace of ann/),
    ]),
  );
  await stage.complete('ann', '2');
  expect(await stage.show('two.txt')).toBe('two');
  await stage.expectAligned();
  expect(stage.errors).toEqual([]);
});
