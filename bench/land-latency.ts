import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sqliteJournal } from '../src/journal/sqlite.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { SharedTaskList } from '../src/ledger/task-list.ts';
import { keepQueues } from '../src/runtime/landing/queue-keeper.ts';
import { openTeamWorks } from '../src/runtime/work/team-works.ts';
import { openProjects } from '../src/workspaces.ts';
import type { Depot } from '../src/workspaces/depot.ts';
import { readId } from '../src/workspaces/git.ts';
import type { Benchmark } from './benchmark.ts';
import { openWorkspace } from './disk.ts';
import { makeProject } from './repository.ts';
import { interleave, median, time } from './rounds.ts';
import { apartCommands, createTask } from './team.ts';

const TEAM = 'bench';
const MEMBER = 'worker-1';
const FILES = 1_000;
/** Landings in a part of a round. */
const EACH = 3;

/** From the moment at which a work is in the queue until git's ref has it, durably, against the least that git needs. */
export const landLatency: Benchmark = {
  name: 'land-latency',
  unit: 'ms',
  about: 'a work in the queue lands on a branch of 1,000 files, without a gate, until git has the branch',
  target: 'at most 2 times `git merge-tree`, `commit-tree` and `update-ref`',
  async run(scale) {
    using disk = openWorkspace();
    await using stage = await openStage(disk.folder, scale.size(FILES));
    const found = await interleave(scale, () => middle(() => stage.bare()), {
      queue: () => middle(() => stage.land()),
    });
    await stage.requireAll();
    return {
      value: median(found.parts.queue),
      limit: 'git merge-tree, commit-tree, update-ref',
      limitValue: median(found.limit),
      ratio: median(found.ratios.queue),
      peers: [],
      targets: [{ what: 'times the three git commands', value: median(found.ratios.queue), atMost: 2 }],
    };
  },
};

async function middle(part: () => Promise<number>): Promise<number> {
  const figures: number[] = [];
  for (let i = 0; i < EACH; i++) figures.push(await part());
  return median(figures);
}

/** A team with one member in a real repository, its queue, and a second branch for plain git. */
async function openStage(folder: string, files: number) {
  const { project, path } = makeProject(folder, files);
  const environment = { PATH: process.env['PATH'], HOME: folder };
  const ledger = new Ledger(sqliteJournal(join(folder, 'journal.db'), { exclusive: true }), { exclusive: true });
  const onError = (error: unknown): never => {
    throw error;
  };
  const root = join(folder, 'state');
  const projects = await openProjects({ root, environment, marks: {}, endLeftovers: async () => {} });
  const works = openTeamWorks({ ledger, projects, onError });
  await works.start();
  const opened = await projects.open(project);
  if (opened.kind !== 'clone') throw new Error('It has no workspaces');
  const { depot, checkout } = opened;
  await ledger.execute(TEAM, apartCommands(TEAM, { repository: project, base: checkout.head }), () => undefined);
  const list = new SharedTaskList(ledger, { works });
  const gate = {
    executeTaskCompletedHook: () => Promise.reject(new Error('no gate')),
    judgesCompletions: async () => false,
  };
  const alone = { hostId: 'here', isAlive: () => false, isNear: () => true };
  const queues = keepQueues({ ledger, gate, git: works, ...alone, onError });
  await queues.start();
  const ref = join(depot.dir, 'refs/heads/troupe', TEAM);
  let number = 0;
  let submitted = 0;
  const unsubscribe = ledger.subscribe((_teamId, { events }) => {
    if (events.some(({ type }) => type === 'work:submitted')) submitted = performance.now();
  });
  const edit = (where: string): void =>
    writeFileSync(join(where, path(number % files)), `changed ${++number}\n`.repeat(60));

  return {
    async land(): Promise<number> {
      const { id: taskId } = await ledger.execute(TEAM, createTask(number), (state) => {
        const id = [...state.tasks.keys()].at(-1) ?? '';
        return { id };
      });
      const { epoch } = await list.claimTask(TEAM, taskId, MEMBER);
      const worker = { teamId: TEAM, memberId: MEMBER };
      await works.begin(worker, { taskId, epoch });
      edit((await works.open(worker))?.folder ?? '');
      const before = readRef(ref);
      const completed = list.completeTask(TEAM, taskId, MEMBER, {});
      while (readRef(ref) === before) await sleep(1);
      const ms = performance.now() - submitted;
      await completed;
      return ms;
    },
    bare: () => landBare(depot, { head: checkout.head, path: path(number % files), number: ++number }),
    async requireAll(): Promise<void> {
      const { tip, states } = await ledger.view(TEAM, ({ team, tasks }) => ({
        tip: team?.work?.tip,
        states: [...tasks.values()].map(({ work }) => work?.state),
      }));
      if (readRef(ref) !== tip) throw new Error('The ref is not at the tip');
      if (states.some((state) => state !== 'landed')) throw new Error('Not everything has landed');
    },
    async [Symbol.asyncDispose]() {
      unsubscribe();
      queues.close();
      list.close();
      await works.close();
      await ledger.close();
    },
  };
}

function readRef(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** The same with git alone and the same settings: only its commands are timed. */
async function landBare(
  depot: Depot,
  { head, path, number }: { head: string; path: string; number: number },
): Promise<number> {
  const { handle } = depot;
  const { run } = handle;
  const tip = (await handle.readRef('refs/heads/bare')) ?? head;
  const blob = readId(await run(['hash-object', '-w', '--stdin'], { input: `bare ${number}\n`.repeat(60) }));
  const [folder = '', name = ''] = path.split('/');
  const { out } = await run(['ls-tree', '-z', `${tip}:${folder}`]);
  const inside = out.toString().replace(new RegExp(`[0-9a-f]{40}(\\t${name}\\0)`), `${blob}$1`);
  const tree = readId(await run(['mktree', '-z'], { input: inside }));
  const { out: top } = await run(['ls-tree', '-z', await handle.treeOf(tip)]);
  const whole = top.toString().replace(new RegExp(`[0-9a-f]{40}(\\t${folder}\\0)`), `${tree}$1`);
  const author = { name: 'A', email: 'a@example.com' };
  const fresh = { parents: [tip], message: 'work', author, at: Date.now() };
  const work = await depot.commit({ ...fresh, tree: readId(await run(['mktree', '-z'], { input: whole })) });
  return time(async () => {
    const { out: merged } = await run(['merge-tree', '--write-tree', '-z', '--messages', tip, work]);
    const id = merged.toString('latin1', 0, tip.length);
    const landed = readId(await run(['commit-tree', id, '-p', tip], { input: 'landed\n', variables: IDENTITY }));
    await run(['update-ref', 'refs/heads/bare', landed]);
  });
}

const IDENTITY = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'A'],
    [`GIT_${who}_EMAIL`, 'a@example.com'],
  ]),
);
