import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ResultOf } from '../../../src/operations/index.ts';
import { NEEDS_NATS, startNats } from '../../nats/server.ts';
import type { NatsServers } from '../../nats/server.ts';
import { until } from '../../until.ts';
import { makeRepository, plainGit } from '../../workspaces/project.ts';
import { setStage } from '../stage.ts';
import { acquaint, LONG_MS, newJournal, signalAll, startMachine } from './stage.ts';
import type { Machine } from './stage.ts';

type Work = ResultOf<'work.show'>;

const LINES = Array.from({ length: 20 }, (_, i) => `line ${i + 1}`).join('\n');

const AGENT = `#!/bin/sh
NAME=$TROUPE_MEMBER_NAME
TASK=$TROUPE_TASK_ID
. ./edit.sh
echo "$NAME did task $TASK"
`;

/** A project with a team on two machines, and a clone of it at another place. */
function makeProject(edit: string, file: { team: string; tasks: readonly object[] }) {
  const { folder } = setStage();
  const [repository, clone] = [join(folder, 'project'), join(folder, 'elsewhere', 'clone')];
  makeRepository(repository, { 'common.txt': `${LINES}\n`, 'agent.sh': AGENT, 'edit.sh': edit });
  chmodSync(join(repository, 'agent.sh'), 0o755);
  plainGit(repository, 'commit', '-qam', 'programs');
  plainGit(folder, 'clone', '-q', repository, clone);
  const members = Object.entries({ ann: 'alpha', bob: 'beta' }).map(([name, host]) => ({
    name,
    host,
    agent: { exec: ['./agent.sh'] },
  }));
  const source = JSON.stringify({ members, ...file });
  return { repository, clone, source };
}

const up = ({ connection }: Machine, folder: string, source: string) =>
  connection.call('team.up', { yes: true, source, folder });

async function done({ connection }: Machine, teamId: string, count: number): Promise<void> {
  await until(`${count} tasks of ${teamId} are completed`, async () => {
    const tasks = await connection.call('task.list', { teamId });
    return tasks.filter(({ status }) => status === 'completed').length === count;
  });
}

const show = ({ connection }: Machine, teamId: string): Promise<Work> => connection.call('work.show', { teamId });

describe('workspaces on several machines', NEEDS_NATS, () => {
  let servers: NatsServers;
  beforeAll(async () => {
    servers = await startNats();
  });
  afterAll(() => servers?.stop());

  test('the work of each machine lands for all, and stays when a machine is gone', async () => {
    const journal = await newJournal(servers, { leaseMs: LONG_MS });
    const edit = `
case $TASK in
1) sed -i 's/^line 2$/line 2 by ann/' common.txt;;
2) sed -i 's/^line 18$/line 18 by bob/' common.txt;;
*) cp common.txt seen-$TASK.txt;;
esac
`;
    const tasks = [
      { id: 'first', title: 'First', assign: 'ann' },
      { id: 'second', title: 'Second', assign: 'bob' },
      { title: 'Look here', assign: 'ann', needs: ['first', 'second'] },
      { title: 'Look there', assign: 'bob', needs: ['first', 'second'] },
    ];
    const { repository, clone, source } = makeProject(edit, { team: 'wide', tasks });
    const [a, b] = await Promise.all([
      startMachine('alpha', journal, { projects: [repository] }),
      startMachine('beta', journal, { projects: [clone] }),
    ]);
    await acquaint(a, b);
    await up(a, repository, source);
    await done(a, 'wide', 4);
    const [here, there] = [await show(a, 'wide'), await show(b, 'wide')];
    expect(here.tasks?.map(({ state }) => state)).toEqual(['landed', 'landed', 'landed', 'landed']);
    expect(there).toMatchObject({ tip: here.tip, base: here.base, repository: clone });
    expect(here).toMatchObject({ repository, members: [{ memberId: 'ann' }] });
    expect(there.members).toMatchObject([{ memberId: 'bob' }]);
    for (const depot of [here.depot ?? '', there.depot ?? '']) {
      expect(plainGit(depot, 'rev-parse', 'refs/heads/troupe/wide')).toBe(here.tip);
      expect(plainGit(depot, 'fsck', '--connectivity-only', '--no-dangling')).toBe('');
      for (const path of ['common.txt', 'seen-3.txt', 'seen-4.txt']) {
        const text = plainGit(depot, 'show', `${here.tip}:${path}`);
        expect([text.includes('line 2 by ann'), text.includes('line 18 by bob')], path).toEqual([true, true]);
      }
    }

    // The machine with the first checkout is gone, with everything on it.
    signalAll(a, 'SIGKILL');
    rmSync(join(a.home.directory, 'depots'), { recursive: true });
    renameSync(repository, `${repository}-gone`);
    const diff = await b.connection.call('work.diff', { teamId: 'wide', of: '1', stat: false });
    expect(diff.text).toContain('+line 2 by ann\n');
    const merged = await b.troupe('merge', '--team', 'wide');
    expect(merged.stdout, merged.stderr).toContain('Merged troupe/wide into main: 3 files');
    expect(readFileSync(join(clone, 'seen-3.txt'), 'utf8')).toContain('line 18 by bob');
    expect(existsSync(repository)).toBe(false);
    writeFileSync(join(clone, 'own.txt'), '');
  });
});
