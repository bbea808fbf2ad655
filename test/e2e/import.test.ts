import { execFile } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { Home } from '../../src/client/home.ts';
import { BIN, connect, environmentFor, serve, temporaryHome } from '../daemon/serve.ts';
import { begin, writeWorkTeam } from '../ui/work-team.ts';
import { plainEnvironment, plainGit, write } from '../workspaces/project.ts';

interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in a folder, with the daemon of a home. */
async function troupe(home: Home, cwd: string, ...args: readonly string[]): Promise<Said> {
  const env = { ...environmentFor(home), ...plainEnvironment(dirname(home.directory)) };
  return promisify(execFile)(process.execPath, [BIN, ...args], { cwd, env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: unknown) => error as Said,
  );
}

test('a team moves to another machine with its history and its branch; nothing runs there, and bad files leave nothing', async () => {
  const [here, there] = [temporaryHome(), temporaryHome()];
  const teamId = 'words';
  await writeWorkTeam(here, teamId);
  await serve(here);
  const first = connect(here);
  const { folder, taskId } = await begin(first, teamId, 'ann', 'Write a line');
  write(folder, { 'new.txt': 'a line that landed\n' });
  await first.call('task.complete', { teamId, taskId, result: 'Done.' }, { as: 'ann' });
  const held = await begin(first, teamId, 'bob', 'Under way');
  await first.call('message.send', { teamId, toId: 'bob', content: 'How far are you?' });
  await first.call('hook.register', { teamId, type: 'TaskCompleted', command: 'npm test' });
  const repository = join(here.directory, `project-of-${teamId}`);
  const file = join(here.directory, 'words.troupe');
  const written = await troupe(here, repository, 'export', teamId, '--journal', file, '--json');
  expect(written.stderr).toBe('');
  const { batches } = JSON.parse(written.stdout) as { batches: number };
  const history = await first.call('event.list', { teamId, limit: 10_000 });
  expect(batches).toBe(history.length);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  // It is as it was: an export changes nothing.
  expect((await first.call('task.show', { teamId, taskId: held.taskId })).status).toBe('in_progress');

  await serve(there);
  const second = connect(there);
  const clone = join(there.directory, 'clone');
  plainGit(there.directory, 'clone', '-q', repository, clone);
  const before = plainGit(clone, 'for-each-ref');
  const damaged = join(there.directory, 'damaged.troupe');
  const bytes = readFileSync(file);
  writeFileSync(damaged, bytes.subarray(0, -5));
  const refused = await troupe(there, clone, 'import', damaged);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain('cut off');
  const elsewhere = await troupe(there, there.directory, 'import', file);
  expect(elsewhere.stderr).toContain('run this in a clone of it that has the commit');
  expect(await second.call('team.list', {})).toEqual([]);
  expect(plainGit(clone, 'for-each-ref')).toBe(before);

  const imported = await troupe(there, clone, 'import', file);
  expect(imported.stderr).toBe('');
  expect(imported.stdout).toContain('Imported team words');
  expect(imported.stdout).toContain('Its hooks did not travel (1)');
  const status = await second.call('team.status', { teamId });
  expect(status.team.members.map(({ status }) => status)).toEqual(status.team.members.map(() => 'stopped'));
  expect(status.team.hooks).toEqual([]);
  expect(await second.call('task.show', { teamId, taskId: held.taskId })).toMatchObject({ status: 'pending' });
  // The second batch says where the repository is.
  const moved = await second.call('event.list', { teamId, after: 2, limit: batches - 2 });
  expect(moved).toEqual(history.slice(2));
  expect(await second.call('message.inbox', { teamId, memberId: 'bob' })).toMatchObject([
    { content: 'How far are you?' },
  ]);
  const shown = await troupe(there, clone, 'diff', '--team', teamId);
  expect(shown.stdout).toContain('+a line that landed');
  const ofTask = await troupe(there, clone, 'diff', taskId, '--team', teamId);
  expect(ofTask.stdout).toContain('+a line that landed');
  const merged = await troupe(there, clone, 'merge', '--team', teamId);
  expect(merged.stderr).toBe('');
  expect(readFileSync(join(clone, 'new.txt'), 'utf8')).toBe('a line that landed\n');

  const again = await troupe(there, clone, 'import', file);
  expect(again.code).not.toBe(0);
  expect(again.stderr).toMatch(/lands its work on the branch|There is a team words already/);
  expect(plainGit(clone, 'rev-parse', `troupe/${teamId}`)).not.toBe('');

  // A team without workspaces needs no clone, and may get another name.
  await first.call('team.create', { name: 'plain' });
  await first.call('task.create', { teamId: 'plain', title: 'Look' });
  const plain = join(here.directory, 'plain.troupe');
  await troupe(here, here.directory, 'export', 'plain', '--journal', plain);
  expect((await troupe(there, there.directory, 'import', plain, '--rename', 'other')).code).toBe(0);
  expect((await troupe(there, there.directory, 'import', plain, '--rename', 'other')).stderr).toContain(
    'There is a team other already: delete it first, or import the other one under another name (--rename)',
  );
  expect((await second.call('team.list', {})).map(({ id }) => id)).toEqual(['other', 'words']);
});
