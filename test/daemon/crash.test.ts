import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { startDaemon } from '../../src/daemon.ts';
import { rounds, tell } from '../proof.ts';
import { seededRandom } from '../seed.ts';
import { until } from '../until.ts';
import { run } from './processes.ts';
import type { Acknowledged } from './programs/hard-worker.ts';
import { connect, temporaryHome } from './serve.ts';
import { loadSpare, startSpare } from './spare.ts';

const KILLS = rounds(5, 300);
const WORKERS = ['ada', 'bob', 'cyd', 'dee'];
const TEAMS = ['red', 'green', 'blue', 'grey'];
/** Most daemons are killed after at most so many answers, in the middle of work; every fifth one while it starts. */
const MOST_ANSWERS = 60;
const START_EVERY = 5;
const LONGEST_START_MS = 150;

test(`loses nothing that it acknowledged when it is killed at ${KILLS} moments under load`, async () => {
  const random = seededRandom();
  const home = temporaryHome();
  const daemon = await startDaemon({ home });
  const client = connect(home);
  for (const name of TEAMS) {
    await client.call('team.create', { name, messagesPerMinute: 1_000_000 });
    for (const worker of WORKERS) await client.call('member.add', { teamId: name, name: worker });
  }
  await daemon.close();

  let next = await loadSpare(home);
  const workers = WORKERS.map((name) =>
    run('hard-worker', [home.directory, name, ...TEAMS], { stdio: ['pipe', 'pipe', 'pipe'] }),
  );
  // Each worker prints a letter per answer.
  const countAnswers = (): number => workers.reduce((sum, { output }) => sum + output.stdout.length, 0);
  const allWork = (): Promise<boolean> => {
    const before = workers.map(({ output }) => output.stdout.length);
    return until('every worker has an answer of each kind', () =>
      workers.every(({ output }, at) => ['t', 'm'].every((letter) => output.stdout.includes(letter, before[at]))),
    );
  };
  for (let kill = 0; kill < KILLS; kill++) {
    const daemon = next;
    startSpare(daemon);
    const spare = loadSpare(home);
    if (kill % START_EVERY === START_EVERY - 1) await sleep(random() * LONGEST_START_MS);
    else {
      await until('it is ready', () => daemon.output.stdout === 'loaded\nready\n');
      if (kill === 0) await allWork();
      const enough = countAnswers() + random() * MOST_ANSWERS;
      await until('work is done', () => countAnswers() > enough);
      await sleep(random() * 10);
    }
    daemon.child.kill('SIGKILL');
    expect(await daemon.ended, daemon.output.stderr).toBe('SIGKILL');
    next = await spare;
  }
  startSpare(next);
  await until('the last daemon is ready', () => next.output.stdout.endsWith('ready\n'));
  await allWork();
  for (const worker of workers) worker.child.stdin?.write('enough\n');
  expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
  const all = workers.map(({ output }) => JSON.parse(output.stdout.trim().split('\n').at(-1) ?? '') as Acknowledged);

  // The workers came back by themselves: each worked with the first daemon and with the last.
  for (const { errors, connections, created, claimed, sent } of all) {
    expect(errors).toEqual([]);
    expect(connections).toBeGreaterThanOrEqual(2);
    for (const list of [created, claimed, sent]) expect(list.length).toBeGreaterThanOrEqual(2);
  }
  for (const team of TEAMS) await check(client, team, all);
  const counts = all.map(({ created, claimed, sent }) => created.length + claimed.length + sent.length);
  tell({ kills: KILLS, acknowledged: counts.reduce((sum, count) => sum + count, 0) });
});

async function check(client: Client, team: string, all: readonly Acknowledged[]): Promise<void> {
  const tasks = await client.call('task.list', { teamId: team, limit: 10_000 });
  const messages = await client.call('message.inbox', { teamId: team, memberId: 'lead' });
  const byTask = new Map(tasks.map((task) => [task.id, task]));
  const byMessage = new Map(messages.map((message) => [message.id, message]));
  const ofTeam = <T extends { team: string }>(list: readonly T[]): T[] => list.filter((one) => one.team === team);

  // Every acknowledged creation, claim and message is there.
  for (const { id, title } of all.flatMap(({ created }) => ofTeam(created))) {
    expect(byTask.get(id)).toMatchObject({ title });
  }
  all.forEach(({ claimed }, index) => {
    for (const { id, epoch } of ofTeam(claimed)) {
      expect(byTask.get(id)).toMatchObject({ status: 'in_progress', assigneeId: WORKERS[index], epoch });
    }
  });
  for (const { id, content } of all.flatMap(({ sent }) => ofTeam(sent))) {
    expect(byMessage.get(id)).toMatchObject({ content });
  }

  // Each happened once, even without an answer: no task was claimed twice, and no text came twice.
  expectDistinct(tasks.map(({ title }) => title));
  expectDistinct(messages.map(({ content }) => content));
  expectDistinct(all.flatMap(({ claimed }) => ofTeam(claimed).map(({ id }) => id)));
  const claims = new Map<string, number>();
  for (let after = 0, batches; (batches = await client.call('event.list', { teamId: team, after })).length > 0;) {
    after = batches.at(-1)?.seq ?? after;
    for (const event of batches.flatMap(({ events }) => events)) {
      const id = event['taskId'] as string;
      if (event.type === 'task:claimed') claims.set(id, (claims.get(id) ?? 0) + 1);
    }
  }
  expect(Math.max(...claims.values())).toBe(1);

  // Messages of one sender are in the order of sending.
  for (const worker of WORKERS) {
    const numbers = messages
      .filter(({ fromId }) => fromId === worker)
      .map(({ content }) => Number(content.split('-')[1]));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  }
}

function expectDistinct(values: readonly string[]): void {
  expect(new Set(values).size).toBe(values.length);
}
