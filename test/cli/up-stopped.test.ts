import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { homeAt } from '../../src/client/home.ts';
import { connect } from '../daemon/serve.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { slowTeam } from './slow-team.ts';
import { newTroupe, readPid } from './troupe.ts';
import type { Started, Troupe } from './troupe.ts';

/** Runs `troupe up` in a pipe, and waits until the member works. */
async function startUp(
  words: readonly string[] = [],
): Promise<{ troupe: Troupe; up: Started; go: () => void; folder: string }> {
  const troupe = newTroupe();
  const { file, go } = slowTeam('fourth');
  const up = troupe.start(['up', '--yes', file, ...words]);
  const daemon = connect(homeAt(troupe.home));
  await until('its member works', async () => {
    const task = await daemon.call('task.show', { teamId: 'fourth', taskId: '1' }).catch(() => undefined);
    return task?.status === 'in_progress';
  });
  daemon.close();
  return { troupe, up, go, folder: dirname(file) };
}

const STOPPED = 'The daemon was stopped, and team fourth with it. The same command continues it.';

describe('troupe up in a pipe whose daemon is stopped', () => {
  test('ends with 75 and says how to continue; the team is shown as stopped', async () => {
    const { troupe, up, folder } = await startUp();
    expect(await troupe.ask('stop')).toEqual({
      status: 0,
      stdout: `The daemon has ended.\n1 member of fourth was stopped, #1 went back; troupe up in ${folder} continues.\n`,
      stderr: '',
    });
    const { status, stderr } = await up.ended;
    expect({ status, last: stderr.trim().split('\n').at(-1) }).toEqual({ status: 75, last: `troupe: ${STOPPED}` });
    expect(readPid(troupe.home)).toBeUndefined();
    for (const words of ['teams', 'team list', 'status']) {
      expect((await troupe.ask(words)).stdout).toMatch(/^fourth +stopped +0 +0\/2 /m);
    }
    expect((await troupe.ask('team show fourth')).stdout).toMatch(/^ +status +stopped$/m);
    expect(await troupe.json('teams')).toMatchObject([{ name: 'fourth', status: 'active' }]);
  });

  test('reports it as a JSON error, also when everything is killed', async () => {
    const { troupe, up } = await startUp(['--json']);
    expect(await troupe.ask('stop --all')).toMatchObject({ status: 0 });
    const { status, stdout, stderr } = await up.ended;
    expect({ status, stdout }).toEqual({ status: 75, stdout: '' });
    const error = { code: 'no_daemon', message: STOPPED };
    expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '')).toEqual({ error });
    expect(stderr).not.toContain('its members still run');
  });

  test('waits for the next daemon if the members go on, and says so', async () => {
    const { troupe, up, go } = await startUp();
    expect(await troupe.ask('stop --keep')).toMatchObject({ status: 0 });
    await until('it says so', () => up.output.stderr.includes('the daemon was stopped, but its members still run'));
    expect(await troupe.ask('status')).toMatchObject({ status: 0 });
    go();
    expect(await up.ended).toMatchObject({ status: 0, stdout: expect.stringContaining('2 of 2 tasks completed') });
  });

  test('starts another daemon after a kill, and follows the team to its end', async () => {
    const { troupe, up, go } = await startUp();
    const before = readPid(troupe.home) as number;
    process.kill(before, 'SIGKILL');
    await until('another runs', () => ![undefined, before].includes(readPid(troupe.home)));
    go();
    const { status, stdout, stderr } = await up.ended;
    expect({ status, stdout }).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('2 of 2 tasks completed'),
    });
    expect(stderr).toContain('troupe: the daemon is gone; starting it again\n');
  });
});

test('a team with only failed and blocked tasks left says what to reopen, not that troupe up goes on', async () => {
  const troupe = newTroupe();
  const file = join(temporaryFolder(), 'troupe.yaml');
  const tasks = [
    { id: 'a', title: 'A' },
    { id: 'b', title: 'B', needs: ['a'] },
  ];
  const members = [{ name: 'ann', agent: { exec: ['false'] } }];
  writeFileSync(file, JSON.stringify({ team: 'fifth', members, tasks }));
  expect(await troupe.ask(['up', '--yes', file])).toMatchObject({ status: 1 });
  const reopen =
    'its open tasks failed or wait for failed ones. To continue: troupe task reopen TASK --team fifth, then troupe up with its team file';
  const said = async (words: string): Promise<string> => (await troupe.ask(words)).stdout;
  expect(await said('status')).toContain(reopen);
  expect(await said('team status fifth')).toContain(reopen);
  const plain = troupe.start('watch fifth --plain');
  await until('it says so, too', () => plain.output.stderr.includes(reopen));
  await troupe.ask('task reopen 1 --team fifth');
  const goesOn = 'are stopped (troupe up ended). To continue: troupe up with its team file';
  expect(await said('status')).toContain(goesOn);
  expect(await said('team status fifth')).toContain(goesOn);
});
