import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { homeAt } from '../../../src/client/home.ts';
import type { Home } from '../../../src/client/home.ts';
import type { TeamEvent } from '../../../src/core/event.ts';
import { JoinInput } from '../../../src/core/member.ts';
import { CreateTeamInput } from '../../../src/core/team.ts';
import { startDaemon } from '../../../src/daemon.ts';
import { connect } from '../../daemon/serve.ts';
import { isReady, loadSpare, startSpare } from '../../daemon/spare.ts';
import { processesOf } from '../../e2e/stage.ts';
import { rounds, tell } from '../../proof.ts';
import { seededRandom } from '../../seed.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { makeRepository, plainGit } from '../../workspaces/project.ts';
import { GATE, kindOf, lineOf, pairOf, workAs } from './crew.ts';
import { judgeEach } from './judge-each.ts';

const KILLS = rounds(6, 1_000);
/** So many kills happen to one team: its history is checked commit by commit. */
const PER_TEAM = 50;
const TEAM = 'crew';
const MEMBERS = ['ann', 'bob', 'cyd', 'dan'];
/** So many tasks wait while kills go on. */
const AHEAD = 6;
const LONGEST_START_MS = 300;
const LONGEST_WAIT_MS = 400;

/** A daemon is killed right after one of these, in the gate that follows, at a random moment, or while it starts. */
const MOMENTS = [
  'work:submitted',
  'landing:begun',
  'in the gate',
  'work:landed',
  'any',
  'start',
  'work:conflicted',
  'task:rejected',
  'landing:ended',
] as const;
type Moment = (typeof MOMENTS)[number];

test(`every work lands exactly once and every tip has passed the gate, with ${KILLS} times kill -9 of the daemon`, async () => {
  const random = seededRandom();
  const struck = new Map<Moment, number>();
  let landed = 0;
  for (let done = 0; done < KILLS; done += PER_TEAM) {
    landed += await killInTeam({ random, struck, first: done, kills: Math.min(PER_TEAM, KILLS - done) });
  }
  tell({ kills: KILLS, works: landed });
  console.log(`${landed} works landed; killed ${[...struck].map(([at, n]) => `${at}: ${n}`).join(', ')}`);
});

/** Kills the daemon of one team so many times while its members hand in; then checks everything. */
async function killInTeam({
  random,
  struck,
  first,
  kills,
}: {
  random: () => number;
  struck: Map<Moment, number>;
  first: number;
  kills: number;
}): Promise<number> {
  const folder = temporaryFolder();
  const home = homeAt(join(folder, 'home'));
  mkdirSync(home.directory, { mode: 0o700 });
  await makeTeam(home, join(folder, 'project'));
  // One for all: it soon tries again after a connection that brought an answer, and some call always gets one.
  const client = connect(home, { patience: 3_600_000 });
  const seen = follow(client);
  let isOver = false;
  let created = 0;
  const addTasks = async (): Promise<void> => {
    const open = created - seen.count('task:completed');
    for (let i = open; i < AHEAD; i++) await client.call('task.create', { teamId: TEAM, title: `Task ${++created}` });
  };
  let next = await loadSpare(home);
  const workers = MEMBERS.map((name) => workAs(client, { teamId: TEAM, name, isOver: () => isOver }));
  const failed = Promise.all(workers).then(() => {});
  for (let kill = 0; kill < kills; kill++) {
    const daemon = next;
    startSpare(daemon);
    const spare = loadSpare(home);
    const moment = MOMENTS[(first + kill) % MOMENTS.length] ?? 'any';
    if (moment === 'start') await sleep(random() * LONGEST_START_MS);
    else {
      await until('the daemon is ready', () => isReady(daemon));
      await Promise.race([failed, addTasks()]);
      await Promise.race([failed, waitFor(seen, moment, random)]);
    }
    daemon.child.kill('SIGKILL');
    expect(await daemon.ended, daemon.output.stderr).toBe('SIGKILL');
    struck.set(moment, (struck.get(moment) ?? 0) + 1);
    next = await spare;
  }
  startSpare(next);
  await until('the last daemon is ready', () => isReady(next));
  await Promise.race([failed, addTasks()]);
  for (let n = seen.count('task:completed') + 1; n <= created; n++) {
    await Promise.race([failed, until(`${n} tasks are done`, () => seen.count('task:completed') >= n)]);
  }
  isOver = true;
  await failed;
  next.child.kill('SIGKILL');
  await next.ended;
  await check(home, created);
  client.close();
  expect(processesOf(home)).toEqual([]);
  return created;
}

/** A team with workspaces and a gate, whose members no daemon runs. */
async function makeTeam(home: Home, repository: string): Promise<void> {
  const base = makeRepository(repository, {
    'gate.sh': GATE,
    'lines.txt': 'first\nlast\n',
    'README.md': 'A project\n',
  });
  const daemon = await startDaemon({ home });
  const { ledger, coordinator } = daemon;
  await coordinator.recordTeam(CreateTeamInput.parse({ name: TEAM }), { by: '@user' });
  const work = { workspaces: 'own', repository, prefix: '', base, branch: `troupe/${TEAM}` } as const;
  await ledger.execute(TEAM, { type: 'team.update', by: '@user', work }, () => undefined);
  for (const name of MEMBERS) {
    const join = JoinInput.parse({ name, agent: { kind: 'function' } });
    await ledger.execute(TEAM, { type: 'member.join', by: '@user', ...join }, () => undefined);
  }
  await daemon.hooks.registerHook(TEAM, { type: 'TaskCompleted', command: 'sh ./gate.sh', onFailure: 'block' });
  await daemon.close();
}

/** The events of the team, as they come. */
function follow(client: Client) {
  const counts = new Map<string, number>();
  let wake: (() => void) | undefined;
  void (async () => {
    for await (const { events } of client.subscribe(TEAM)) {
      for (const { type } of events) counts.set(type, (counts.get(type) ?? 0) + 1);
      wake?.();
    }
  })().catch(() => {});
  const count = (type: string): number => counts.get(type) ?? 0;
  return {
    count,
    /** Resolves when one more such event has come. */
    async next(type: string): Promise<void> {
      const before = count(type);
      while (count(type) === before) await new Promise<void>((resolve) => (wake = resolve));
    },
  };
}

/** Nothing may conflict or be rejected for a while: then any moment is right. */
async function waitFor(seen: ReturnType<typeof follow>, moment: Moment, random: () => number): Promise<void> {
  const later = sleep(random() * LONGEST_WAIT_MS);
  if (moment === 'any') return later;
  const type = moment === 'in the gate' ? 'landing:begun' : moment;
  await Promise.race([seen.next(type), later.then(() => sleep(LONGEST_WAIT_MS * 2))]);
  if (moment === 'in the gate') await sleep(20 + random() * 80);
}

async function check(home: Home, created: number): Promise<void> {
  const daemon = await startDaemon({ home });
  const client = connect(home);
  const tasks = await client.call('task.list', { teamId: TEAM, limit: 10_000 });
  expect(tasks.map(({ status, work }) => `${status} ${work?.state}`)).toEqual(tasks.map(() => 'completed landed'));
  expect(tasks).toHaveLength(created);
  const { depot = '', base = '', tip = '' } = await client.call('work.show', { teamId: TEAM });
  const standing = await daemon.ledger.view(TEAM, ({ team }) => team?.work);
  expect([standing?.queue ?? [], standing?.landing]).toEqual([[], undefined]);

  const events = await allEvents(client);
  // Each landing goes on from the tip before it, and no task lands twice.
  let at = base;
  const ids: string[] = [];
  for (const event of events) {
    if (event.type !== 'work:landed') continue;
    expect(event.onto).toBe(at);
    at = event.merged;
    ids.push(event.taskId);
  }
  expect(at).toBe(tip);
  expect(ids.toSorted()).toEqual(tasks.map(({ id }) => id).toSorted());
  await daemon.close();

  expect(plainGit(depot, 'rev-parse', `refs/heads/troupe/${TEAM}`)).toBe(tip);
  expect(plainGit(depot, 'fsck', '--connectivity-only', '--no-dangling')).toBe('');
  const trailer = '--format=%(trailers:key=Task-Id,valueonly,separator=)';
  const onBranch = plainGit(depot, 'log', '--first-parent', '--reverse', trailer, `${base}..${tip}`);
  expect(onBranch.split('\n')).toEqual(ids);
  judgeEach(depot, `${base}..${tip}`, 'sh ./gate.sh');

  const files = plainGit(depot, 'ls-tree', '-r', '--name-only', tip).split('\n');
  const lines = plainGit(depot, 'show', `${tip}:lines.txt`);
  for (let task = 1; task <= created; task++) {
    const kind = kindOf(task);
    expect(files).toContain(`items/${task}`);
    if (kind === 'line') expect(lines.split(lineOf(task)), `the line of ${task}`).toHaveLength(2);
    if (kind === 'left' || kind === 'right') expect(files).toContain(`items/${kind}-${pairOf(task)}`);
  }
}

async function allEvents(client: Client): Promise<TeamEvent[]> {
  const found: TeamEvent[] = [];
  for (let after = 0, batches; (batches = await client.call('event.list', { teamId: TEAM, after })).length > 0;) {
    after = batches.at(-1)?.seq ?? after;
    found.push(...batches.flatMap(({ events }) => events as unknown as TeamEvent[]));
  }
  return found;
}
