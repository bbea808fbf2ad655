import { chmodSync, existsSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TestContext } from 'vitest';
import { waitingOf } from '../../src/core/waiting.ts';
import { mountSmall, needMounts } from '../journal/mounts.ts';
import { rounds } from '../proof.ts';
import { until } from '../until.ts';
import { plainGit } from '../workspaces/project.ts';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { makeProject } from './work-project.ts';

const ROUNDS = rounds(2, 20);

/** Writes a file, and waits to be let go. The disk is full when it ends. */
const edit = ({ folder }: Stage): string =>
  `seq 1 2000 > $NAME-$TASK.txt\ntouch ${folder}/begun-$TASK\nuntil [ -e ${folder}/go-$TASK ]; do sleep 0.05; done\n`;

test('members whose disk is full wait: no task fails, and all work lands when there is space', async (context) => {
  const stage = setSmallStage(context);
  try {
    const tasks = Array.from({ length: 2 * ROUNDS }, (_, i) => ({
      title: `Task ${i + 1}`,
      assign: i % 2 === 0 ? 'ann' : 'bob',
    }));
    const repository = makeProject(stage, edit(stage), { tasks });
    const started = await stage.troupe('up', join(repository, 'troupe.yaml'), '--yes', '--detach');
    expect(started.code, started.stderr).toBe(0);
    const client = stage.client();
    const ballast = join(stage.home.directory, 'ballast');
    for (let round = 0; round < ROUNDS; round++) {
      const pair = [2 * round + 1, 2 * round + 2];
      const marks = (what: string): string[] => pair.map((task) => join(stage.folder, `${what}-${task}`));
      await until('both have written', () => marks('begun').every((path) => existsSync(path)));
      fill(ballast);
      for (const path of marks('go')) writeFileSync(path, '');
      await until('it is said that the disk is full', async () => {
        const { health } = await client.call('daemon.status', {});
        return health.problems.length > 0;
      });
      rmSync(ballast);
    }
    await until('all tasks are over', async () => {
      const found = await client.call('task.list', { teamId: stage.team });
      return found.every(({ status }) => status === 'completed' || status === 'failed');
    });
    const found = await client.call('task.list', { teamId: stage.team });
    expect(found.map(({ status, work }) => `${status} ${work?.state}`)).toEqual(found.map(() => 'completed landed'));
    const { depot = '', tip = '' } = await client.call('work.show', { teamId: stage.team });
    const files = plainGit(depot, 'ls-tree', '--name-only', tip).split('\n');
    expect(files).toEqual(expect.arrayContaining(tasks.map(({ assign }, i) => `${assign}-${i + 1}.txt`)));
    expect(plainGit(depot, 'fsck', '--strict', '--full', '--no-dangling', '--no-progress')).toBe('');
    expect(readdirSync(join(depot, 'objects/pack')).filter((name) => name.startsWith('tmp'))).toEqual([]);
  } finally {
    // Before the disk is gone.
    await stage.troupe('stop', '--all');
  }
});

test('members that wait for a full disk and are interrupted give their tasks back, and troupe up continues', async (context) => {
  const stage = setSmallStage(context);
  try {
    const repository = makeProject(stage, `head -c 4000000 /dev/urandom > $NAME.bin\n${edit(stage)}`);
    const up = ['up', join(repository, 'troupe.yaml'), '--yes'];
    const first = stage.start(up);
    const marks = (what: string): string[] => [1, 2].map((task) => join(stage.folder, `${what}-${task}`));
    await until('both have written', () => marks('begun').every((path) => existsSync(path)));
    const ballast = join(stage.home.directory, 'ballast');
    // The journal still has space, a save has not.
    fill(ballast, { leave: 1_500_000 });
    for (const path of marks('go')) writeFileSync(path, '');
    await until('both have ended their turns, and cannot hand in', async () => {
      const { members } = await stage.client().call('usage.show', { teamId: stage.team });
      return Object.values(members).filter(({ turns }) => turns === 1).length === 2;
    });
    await until('it is said of both that their work cannot be saved', async () => {
      const members = await stage.client().call('member.list', { teamId: stage.team });
      const reasons = members.flatMap((member) => waitingOf(member) ?? []);
      return reasons.length === 2 && reasons.every((reason) => reason.startsWith('its workspace cannot be saved: '));
    });
    first.child.kill('SIGINT');
    expect(await first.ended).toBe(130);
    rmSync(ballast);
    const statuses = async () =>
      (await stage.client().call('task.list', { teamId: stage.team })).map(({ status }) => status);
    expect(await statuses()).toEqual(['pending', 'pending']);
    const again = await stage.troupe(...up);
    expect(again.code, again.stderr).toBe(0);
    expect(await statuses()).toEqual(['completed', 'completed']);
    const members = await stage.client().call('member.list', { teamId: stage.team });
    expect(members.flatMap((member) => waitingOf(member) ?? [])).toEqual([]);
  } finally {
    // Before the disk is gone.
    await stage.troupe('stop', '--all');
  }
});

/** Its daemon keeps everything on a disk of its own, which is easy to fill. */
function setSmallStage(context: TestContext): Stage {
  needMounts(context);
  const stage = setStage();
  mountSmall(stage.home.directory, '48m');
  chmodSync(stage.home.directory, 0o700);
  return stage;
}

/** Takes all space that there is, but for what it leaves. Others take some meanwhile. */
function fill(path: string, { leave = 0 } = {}): void {
  const { bavail, bsize } = statfsSync(join(path, '..'));
  try {
    writeFileSync(path, Buffer.alloc(bavail * bsize - leave, 1));
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' });
  }
}
