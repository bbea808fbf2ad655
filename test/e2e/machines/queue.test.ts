import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TeamEvent } from '../../../src/core/event.ts';
import { NEEDS_NATS, startNats } from '../../nats/server.ts';
import type { NatsServers } from '../../nats/server.ts';
import { rounds } from '../../proof.ts';
import { until } from '../../until.ts';
import { makeRepository, plainGit } from '../../workspaces/project.ts';
import { setStage } from '../stage.ts';
import { acquaint, completedIn, eventsOf, newJournal, signalAll, startMachine } from './stage.ts';
import type { Machine } from './stage.ts';

const TEAM = 'several';

/** The members, each on a machine of its own. */
const HOSTS = { ann: 'alpha', bob: 'beta', cyd: 'gamma' } as const;

/** A landing that is under way; undefined if there is none. */
function openLanding(events: readonly TeamEvent[]) {
  const last = events.findLast(
    ({ type }) => type === 'landing:begun' || type === 'landing:ended' || type === 'work:landed',
  );
  return last?.type === 'landing:begun' ? last : undefined;
}

function landedIn(events: readonly TeamEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'work:landed' ? [event.taskId] : []));
}

describe('the merge queue of several machines', NEEDS_NATS, () => {
  let servers: NatsServers;
  beforeAll(async () => {
    servers = await startNats();
  });
  afterAll(() => servers?.stop());

  test('lands everything once, also what a lost machine handed in or was judging', async () => {
    const journal = await newJournal(servers, { leaseMs: 2_000 });
    const { folder } = setStage();
    const [repository, hold] = [join(folder, 'project'), join(folder, 'hold')];
    makeRepository(repository, {
      'agent.sh': '#!/bin/sh\necho "$TROUPE_MEMBER_NAME" > task-$TROUPE_TASK_ID.txt\necho done\n',
      'gate.sh': `#!/bin/sh\nwhile [ -e ${hold} ]; do sleep 0.1; done\n`,
    });
    for (const name of ['agent.sh', 'gate.sh']) chmodSync(join(repository, name), 0o755);
    plainGit(repository, 'commit', '-qam', 'programs');
    const members = Object.entries(HOSTS).map(([name, host]) => ({ name, host, agent: { exec: ['./agent.sh'] } }));
    const hooks = { TaskCompleted: { command: './gate.sh', onFailure: 'block' } };
    const names = Object.values(HOSTS);
    let machines = await Promise.all(
      names.map((name) => {
        const clone = join(folder, name);
        plainGit(folder, 'clone', '-q', repository, clone);
        return startMachine(name, journal, { projects: [clone] });
      }),
    );
    const first = (): Machine => machines[0] as Machine;
    await acquaint(...machines);
    const source = JSON.stringify({ team: TEAM, members, hooks, tasks: [] });
    await first().connection.call('team.up', { yes: true, source, folder: repository });
    let count = 0;
    /** Gives each member that is left a task. */
    const give = async (): Promise<void> => {
      for (const [name, host] of Object.entries(HOSTS)) {
        if (!machines.some((machine) => machine.name === host)) continue;
        const task = { teamId: TEAM, title: `Task ${++count}`, assigneeId: name };
        await first().connection.call('task.create', task);
      }
    };
    const done = (): Promise<unknown> =>
      until('all tasks are completed', async () => {
        const tasks = await first().connection.call('task.list', { teamId: TEAM });
        return tasks.length === count && tasks.every(({ status }) => status === 'completed');
      });

    for (let i = 0; i < rounds(1, 10); i++) await give();
    await done();

    const KILLS = rounds(1, 2);
    for (let kill = 0; kill < KILLS; kill++) {
      writeFileSync(hold, '');
      const before = landedIn(await eventsOf(first(), TEAM)).length;
      await give();
      const landing = await until('all is handed in, and a gate runs', async () => {
        const events = await eventsOf(first(), TEAM);
        const queue = new Set(events.flatMap((event) => (event.type === 'work:submitted' ? event.taskId : [])));
        return queue.size === count && landedIn(events).length === before ? openLanding(events) : undefined;
      });
      // Its machine also has a member, whose work is in the queue.
      const lost = machines.find(({ name }) => name === landing.hostId) as Machine;
      expect(lost).toBeDefined();
      signalAll(lost, 'SIGKILL');
      machines = machines.filter((machine) => machine !== lost);
      const ended = await until('another machine drops the landing', async () =>
        (await eventsOf(first(), TEAM)).find(
          (event) => event.type === 'landing:ended' && event.landingId === landing.landingId,
        ),
      );
      expect(ended).toMatchObject({ how: 'dropped', why: `the machine ${lost.name} is gone` });
      rmSync(hold);
      await done();
    }

    const events = await eventsOf(first(), TEAM);
    const all = Array.from({ length: count }, (_, i) => String(i + 1));
    const sorted = (ids: readonly string[]) => [...ids].sort((a, b) => Number(a) - Number(b));
    expect([sorted(landedIn(events)), sorted(completedIn(events))]).toEqual([all, all]);
    for (const { connection } of machines) {
      const { depot = '', base = '', tip = '' } = await connection.call('work.show', { teamId: TEAM });
      expect(plainGit(depot, 'rev-parse', `refs/heads/troupe/${TEAM}`)).toBe(tip);
      expect(plainGit(depot, 'fsck', '--connectivity-only', '--no-dangling')).toBe('');
      expect(plainGit(depot, 'rev-list', '--count', `${base}..${tip}`)).toBe(String(count));
      const files = plainGit(depot, 'ls-tree', '--name-only', tip).split('\n');
      expect(files).toEqual(expect.arrayContaining(all.map((id) => `task-${id}.txt`)));
    }
  });
});
