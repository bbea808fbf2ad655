import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ResultOf } from '../../../src/operations/index.ts';
import { NEEDS_NATS, startNats } from '../../nats/server.ts';
import type { NatsServers } from '../../nats/server.ts';
import { until } from '../../until.ts';
import { makeRepository, plainGit, write } from '../../workspaces/project.ts';
import { setStage } from '../stage.ts';
import { acquaint, hostsOf, LONG_MS, newJournal, signalAll, startMachine } from './stage.ts';
import type { Machine } from './stage.ts';

type Work = ResultOf<'work.show'>;

const LINES = Array.from({ length: 20 }, (_, i) => `line ${i + 1}`).join('\n');

const AGENT = `#!/bin/sh
NAME=$TROUPE_MEMBER_NAME
TASK=$TROUPE_TASK_ID
. ./edit.sh
echo "$NAME did task $TASK"
`;

const SETUP = '#!/bin/sh\ntouch .git/ready\n';

/** A project with a team on two machines, and a clone of it at another place. */
function makeProject({ edit, gate, team }: { edit: string; gate: string; team: string }) {
  const { folder } = setStage();
  const [repository, clone] = [join(folder, 'project'), join(folder, 'elsewhere', 'clone')];
  makeRepository(repository, {
    'common.txt': `${LINES}\n`,
    'agent.sh': AGENT,
    'edit.sh': edit,
    'gate.sh': gate,
    'setup.sh': SETUP,
  });
  for (const name of ['agent.sh', 'gate.sh', 'setup.sh']) chmodSync(join(repository, name), 0o755);
  plainGit(repository, 'commit', '-qam', 'programs');
  plainGit(folder, 'clone', '-q', repository, clone);
  const server = join(folder, 'server.git');
  plainGit(folder, 'clone', '-q', '--bare', repository, server);
  plainGit(repository, 'remote', 'add', 'origin', server);
  plainGit(clone, 'remote', 'set-url', 'origin', server);
  const agent = { exec: ['./agent.sh'] };
  const members = Object.entries({ ann: 'alpha', bob: 'beta' }).map(([name, host]) => ({ name, host, agent }));
  const hooks = { TaskCompleted: { command: './gate.sh', onFailure: 'block' } };
  const away = { team: `${team}-by-origin`, members, hooks, tasks: [{ title: 'First', assign: 'bob' }] };
  return {
    repository,
    clone,
    server,
    /** Another team of the project, whose work travels by a remote. */
    byRemote: (remote: string) => JSON.stringify({ ...away, work: { setup: './setup.sh', remote } }),
    source: JSON.stringify({ team, members, hooks, work: { setup: './setup.sh', history: 'keep' }, tasks: [] }),
  };
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
    const gate = '#!/bin/sh\nmkdir -p .git/gate; touch .git/gate/$TROUPE_TASK_ID\n';
    const { repository, clone, server, byRemote, source } = makeProject({ edit, gate, team: 'wide' });
    const [a, b, far] = await Promise.all([
      startMachine('alpha', journal),
      startMachine('beta', journal, { projects: [clone] }),
      startMachine('afar', journal),
    ]);
    await acquaint(a, b, far);
    const link = `${repository}-link`;
    symlinkSync(repository, link);
    await up(a, link, source);
    await expect(up(a, repository, byRemote('orign'))).rejects.toThrow(
      'has no such remote (it has origin): correct the name, or add it with git remote add orign URL',
    );
    write(repository, { 'by-origin.yaml': byRemote('origin') });
    const raised = await a.troupe('up', join(repository, 'by-origin.yaml'), '--yes', '--detach');
    expect(raised.stdout, raised.stderr).toMatch(/^Workspaces: each member has its own, .*; work travels by origin$/m);
    await done(a, 'wide-by-origin', 1);
    const { remote, tip, tasks } = await show(a, 'wide-by-origin');
    expect(remote).toEqual({ name: 'origin' });
    expect((await a.troupe('work', '--team', 'wide-by-origin')).stdout).toMatch(/^ *travels by +origin$/m);
    expect(tasks?.map(({ state }) => state)).toEqual(['landed']);
    expect(plainGit(server, 'rev-parse', `refs/troupe/wide-by-origin/${tip}`)).toBe(tip);
    await until('the other machine has it', async () => (await show(b, 'wide-by-origin')).tip === tip);
    rmSync(join(repository, 'by-origin.yaml'));
    await until('both work', async () => {
      const { members } = await b.connection.call('team.show', { teamId: 'wide' });
      return ['ann', 'bob'].every((id) => members.find((one) => one.id === id)?.status === 'idle');
    });
    // All machines of this test have one disk. From now on only one has a checkout.
    renameSync(repository, `${repository}-gone`);
    const task = (title: string, assigneeId: string, dependencies: string[] = []) =>
      a.connection.call('task.create', { teamId: 'wide', title, assigneeId, dependencies });
    await task('First', 'ann');
    await task('Second', 'bob');
    await task('Look here', 'ann', ['1', '2']);
    await task('Look there', 'bob', ['1', '2']);
    await done(a, 'wide', 4);
    const [here, there] = [await show(a, 'wide'), await show(b, 'wide')];
    expect(here.tasks?.map(({ state }) => state)).toEqual(['landed', 'landed', 'landed', 'landed']);
    expect(there).toMatchObject({ tip: here.tip, base: here.base, repository: clone });
    expect(here.members).toMatchObject([{ memberId: 'ann' }]);
    expect(there.members).toMatchObject([{ memberId: 'bob' }]);
    for (const depot of [here.depot ?? '', there.depot ?? '']) {
      expect(plainGit(depot, 'rev-parse', 'refs/heads/troupe/wide')).toBe(here.tip);
      expect(plainGit(depot, 'fsck', '--connectivity-only', '--no-dangling')).toBe('');
      // Each work is beside the commit that brought it.
      const subjects = plainGit(depot, 'log', '--format=%s', `${here.base}..${here.tip}`).split('\n').sort();
      const works = ['ann', 'ann', 'bob', 'bob'].map((name) => `Work of wide/${name}`);
      expect(subjects).toEqual(['First', 'Look here', 'Look there', 'Second', ...works]);
      expect(plainGit(depot, 'log', '--merges', '--format=%(trailers:key=Team,valueonly)', here.tip ?? '')).toMatch(
        /^(wide\s*){4}$/,
      );
      for (const path of ['common.txt', 'seen-3.txt', 'seen-4.txt']) {
        const text = plainGit(depot, 'show', `${here.tip}:${path}`);
        expect([text.includes('line 2 by ann'), text.includes('line 18 by bob')], path).toEqual([true, true]);
      }
    }
    // Gates ran where the work was, with the one approval.
    const [hers, his] = [here.members?.[0]?.folder ?? '', there.members?.[0]?.folder ?? ''];
    expect([hers, his].map((one) => readdirSync(join(one, '.git', 'gate')).sort())).toEqual([
      ['1', '3'],
      ['2', '4'],
    ]);
    expect([hers, his].map((one) => existsSync(join(one, '.git', 'ready')))).toEqual([true, true]);

    // A member that may run anywhere goes where the project is, although another machine has less to do.
    const cid = { teamId: 'wide', name: 'cid', agent: { kind: 'exec' as const, command: ['./agent.sh'] } };
    await a.connection.call('member.spawn', cid);
    await until('it runs', async () => (await hostsOf(a, 'wide')).length === 3);
    expect((await hostsOf(a, 'wide')).sort()).not.toContain('afar');

    // The machine with the first checkout is gone, with everything on it.
    signalAll(a, 'SIGKILL');
    rmSync(join(a.home.directory, 'depots'), { recursive: true });
    const diff = await b.connection.call('work.diff', { teamId: 'wide', of: '1', stat: false });
    expect(diff.text).toContain('+line 2 by ann\n');
    const merged = await b.troupe('merge', '--team', 'wide');
    expect(merged.stdout, merged.stderr).toContain('Merged troupe/wide into main: 3 files');
    expect(readFileSync(join(clone, 'seen-3.txt'), 'utf8')).toContain('line 18 by bob');
  });
});
