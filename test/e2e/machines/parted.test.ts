import { spawn } from 'node:child_process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { codeOf } from '../../../src/teammate/door.ts';
import { track } from '../../daemon/processes.ts';
import { BIN } from '../../daemon/serve.ts';
import { whyNoNetworks } from '../../nats/network.ts';
import { startPlaces } from '../../nats/places.ts';
import type { Place } from '../../nats/places.ts';
import { NEEDS_NATS } from '../../nats/server.ts';
import { until } from '../../until.ts';
import { acquaint, completedIn, eventsOf, expectOneHolder, hostsOf, SHELL, startMachine } from './stage.ts';
import type { Machine } from './stage.ts';

const TEAM = 'parted';

describe('a team on a partitioned cluster', NEEDS_NATS, () => {
  test('works on with the majority, is read-only with the minority, and is consistent afterwards', async (context) => {
    const reason = whyNoNetworks();
    context.skip(reason !== undefined, reason);
    const places = await startPlaces();
    const { most, few } = places;
    await initJournal(most);
    const [a, b] = [await startMachine('alpha', few.url, few), await startMachine('beta', most.url, most)];
    const members = ['m1', 'm2', 'm3', 'm4'].map((name) => ({ name, agent: { exec: SHELL } }));
    const tasks = Array.from({ length: 20 }, (_, i) => ({ title: `task ${i}` }));
    await acquaint(a, b);
    await a.connection.call('team.up', {
      yes: true,
      source: JSON.stringify({ team: TEAM, members, tasks }),
      folder: '/',
    });
    await until('both run members', async () => new Set(await hostsOf(b, TEAM)).size === 2);
    // The worst case: afterwards a former leader of version 2.9.10 may keep its own writes instead of the majority's.
    await places.leadWithFew(`troupe_${TEAM}`);
    const writers = [keepWriting(a, 'few'), keepWriting(b, 'most')] as const;
    await until('both write', () => writers.every(({ acknowledged }) => acknowledged.length > 1));
    places.cut();

    await until('the members of alpha are on beta', async () => !(await hostsOf(b, TEAM)).includes('alpha'));
    const before = writers[1].acknowledged.length;
    await until('most go on', () => writers[1].acknowledged.length > before + 2);
    const said =
      /^The NATS servers at .* acknowledge nothing \(since .*\): check that most of them run and reach each other/;
    await until('the few say that they do not', () => writers[0].refused.some((why) => said.test(why)));
    const shown = await a.troupe('task', 'list', '--team', TEAM);
    expect(shown.code, shown.stderr).toBe(0);
    expect(shown.stdout).toContain('task 19');
    expect(shown.stderr).toMatch(/acknowledge nothing \(since .*\): this answer may be out of date/);
    expect((await a.troupe('status')).stdout).toMatch(/problems +.*The NATS servers at .* acknowledge nothing/);

    const acknowledged = writers[0].acknowledged.length;
    places.mend();
    await until('the few write again', () => writers[0].acknowledged.length > acknowledged);
    for (const writer of writers) await writer.stop();
    const list = () => a.connection.call('task.list', { teamId: TEAM });
    await until('all is done', async () => (await list()).every(({ status }) => status === 'completed'));
    const kept = [...tasks.map(({ title }) => title), ...writers.flatMap((writer) => writer.acknowledged)];
    const titles = (await list()).map(({ title }) => title);
    expect(kept.filter((title) => titles.filter((one) => one === title).length !== 1)).toEqual([]);
    const events = await eventsOf(a, TEAM);
    expect((await eventsOf(b, TEAM)).slice(0, events.length)).toEqual(events);
    expect(new Set(completedIn(events)).size).toBe(titles.length);
    expect(completedIn(events)).toHaveLength(titles.length);
    expectOneHolder(events);
  });
});

async function initJournal({ enter, url }: Place): Promise<void> {
  const words = ['journal', 'init', url, '--replicas', '3', '--lease', '2s'];
  const [program, ...args] = [...enter, process.execPath, BIN, ...words] as const;
  const init = track(spawn(program, args));
  expect(await init.ended, init.output.stderr).toBe(0);
}

/** Creates a task every 300 ms until `stop`; keeps the titles of accepted tasks and the reasons of refusals. */
function keepWriting({ connection }: Machine, name: string) {
  const acknowledged: string[] = [];
  const refused: string[] = [];
  let stopped = false;
  const writing = (async () => {
    for (let i = 0; !stopped; i++) {
      const title = `${name} ${i}`;
      try {
        await connection.call('task.create', { teamId: TEAM, title });
        acknowledged.push(title);
      } catch (error) {
        if (stopped) return;
        if (codeOf(error) !== 'storage') throw error;
        refused.push((error as Error).message);
      }
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  })();
  const stop = async (): Promise<void> => {
    stopped = true;
    await writing;
  };
  onTestFinished(() => void (stopped = true));
  return { acknowledged, refused, stop };
}
