import { setTimeout as sleep } from 'node:timers/promises';
import { TeamError } from '../src/core/errors.ts';
import { memoryJournal } from '../src/journal/memory.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { SharedTaskList } from '../src/ledger/task-list.ts';
import { keepQueues } from '../src/runtime/landing/queue-keeper.ts';
import { random } from '../test/seed.ts';
import type { Benchmark } from './benchmark.ts';
import { BASE, memoryGit } from './memory-git.ts';
import { time } from './rounds.ts';
import { apartCommands, createTask, WORKERS } from './team.ts';

const TEAM = 'bench';
const TASKS = 200;

/** 15 minutes of work and 4 of a fix, as short as timers allow. A long gate takes two thirds of the work, a short one a fortieth. */
const SHORT = { work: 200, fix: 53, gate: 5 };
const LONG = { work: 90, fix: 24, gate: 60 };

/** So many works are judged alone at once. A gate costs no CPU here: with `gates: 3`, four run at once, as many as a daemon runs. */
const GATES = 3;

/** How long each task and its gate take, and which works are bad at first. */
interface Plan {
  readonly tasks: readonly { readonly work: number; readonly isBad: boolean }[];
  readonly fix: number;
  readonly gate: number;
}

/** How long a plan took, and how many gates ran. */
interface Ran {
  readonly ms: number;
  readonly gates: number;
}

/**
 * Members work, hand in and wait for their landing. Work and gates are waits, and git is in memory: scaled down by
 * 10,000, a git process of 10 ms would weigh like 100 s. What git takes is measured by `land-latency`.
 */
export const mergeQueue: Benchmark = {
  name: 'merge-queue',
  unit: 'landings/s',
  about: '8 members hand in 200 tasks, of which 5 % or 20 % are bad; a short gate and a long one',
  target: 'short gate: 0.9 times the members without any gate; long gate: 2 times one at a time; every tip green',
  async run(scale) {
    const count = scale.size(TASKS);
    const found: Record<string, { bound: Ran; queue: Ran; single: Ran }> = {};
    for (const [name, times] of Object.entries({ short: SHORT, long: LONG })) {
      for (const bad of [0.05, 0.2]) {
        const plan = planOf(times, { count, bad });
        const bound = await withoutGate(plan);
        const queue = await throughQueue(plan);
        const single = name === 'long' ? await oneAtATime(plan) : queue;
        found[`${name} gate, ${bad * 100} % bad`] = { bound, queue, single };
      }
    }
    const ofBound = (name: string): number => ratioOf(found[name]?.bound, found[name]?.queue);
    const ofSingle = (name: string): number => ratioOf(found[name]?.single, found[name]?.queue);
    const short = ['short gate, 5 % bad', 'short gate, 20 % bad'];
    const long = ['long gate, 5 % bad', 'long gate, 20 % bad'];
    const perSecond = ({ ms }: Ran): number => (count * 1000) / ms;
    const hard = found['long gate, 20 % bad'];
    if (!hard) throw new Error('Nothing ran');
    return {
      value: perSecond(hard.queue),
      limit: 'the members without any gate; long gate, 20 % bad',
      limitValue: perSecond(hard.bound),
      ratio: ofBound('long gate, 20 % bad'),
      peers: [{ name: 'one at a time', value: perSecond(hard.single), ratio: ofSingle('long gate, 20 % bad') }],
      targets: [
        ...short.map((what) => ({ what: `of the bound: ${what}`, value: ofBound(what), atLeast: 0.9 })),
        ...long.map((what) => ({ what: `times one at a time: ${what}`, value: ofSingle(what), atLeast: 2 })),
      ],
      more: {
        // A plan of so many tasks needs no repetition; the default would say more than was done.
        rounds: 1,
        gatesPerLanding: Object.fromEntries(
          Object.entries(found).map(([name, { queue }]) => [name, queue.gates / count]),
        ),
      },
    };
  },
};

function ratioOf(before: Ran | undefined, now: Ran | undefined): number {
  return before && now ? before.ms / now.ms : Number.NaN;
}

/** Half to one and a half times the usual work, evenly spread, and just as many bad works as is said, in a random order. */
function planOf({ work, fix, gate }: typeof SHORT, { count, bad }: { count: number; bad: number }): Plan {
  const next = random(count);
  const mixed = (): number[] => {
    const places = Array.from({ length: count }, (_, i) => ({ i, at: next() }));
    return places.sort((a, b) => a.at - b.at).map(({ i }) => i);
  };
  const [lengths, ranks] = [mixed(), mixed()];
  const tasks = lengths.map((length, i) => ({
    work: work * (0.5 + (length + 0.5) / count),
    isBad: (ranks[i] ?? 0) < Math.round(count * bad),
  }));
  return { tasks, fix, gate };
}

/** All members work through the tasks; `land` resolves when a work is on the branch, or says that it is bad. */
async function membersDo(
  { tasks, fix }: Plan,
  land: (member: string, task: number, isGood: boolean) => Promise<boolean>,
): Promise<void> {
  let at = 0;
  await Promise.all(
    WORKERS.map(async (member) => {
      while (at < tasks.length) {
        const number = at++;
        const { work, isBad } = tasks[number] ?? { work: 0, isBad: false };
        await sleep(work);
        for (let isGood = !isBad; !(await land(member, number, isGood)); isGood = true) await sleep(fix);
      }
    }),
  );
}

async function withoutGate(plan: Plan): Promise<Ran> {
  return { ms: await time(() => membersDo(plan, async (_member, _task, isGood) => isGood)), gates: 0 };
}

/** What most queues do: each work is judged after the one before it. */
async function oneAtATime(plan: Plan): Promise<Ran> {
  let last = Promise.resolve();
  let gates = 0;
  const judge = async (): Promise<void> => {
    gates++;
    await sleep(plan.gate);
  };
  const ms = await time(() =>
    membersDo(plan, async (_member, _task, isGood) => {
      await (last = last.then(judge));
      return isGood;
    }),
  );
  return { ms, gates };
}

async function throughQueue(plan: Plan): Promise<Ran> {
  const ledger = new Ledger(memoryJournal(), { exclusive: true });
  const git = memoryGit(ledger, TEAM);
  const tasks = plan.tasks.map((_, i) => createTask(i + 1));
  await ledger.execute(
    TEAM,
    [...apartCommands(TEAM, { repository: '/bench', base: BASE, gates: GATES }), ...tasks],
    () => undefined,
  );
  let gates = 0;
  const gate = git.gateOf(async () => {
    gates++;
    await sleep(plan.gate);
  });
  const list = new SharedTaskList(ledger, { gate, works: git.works });
  const onError = (error: unknown): never => {
    throw error;
  };
  const alone = { hostId: 'here', isAlive: () => false, isNear: () => true };
  const queues = keepQueues({ ledger, gate, git: git.landing, ...alone, onError });
  await queues.start();
  const ms = await time(() =>
    membersDo(plan, async (member, number, isGood) => {
      const taskId = String(number + 1);
      const task = await list.getTask(TEAM, taskId);
      if (task?.status === 'pending') await git.begin(member, await list.claimTask(TEAM, taskId, member));
      git.write(member, taskId, isGood);
      try {
        await list.completeTask(TEAM, taskId, member, {});
        return true;
      } catch (error) {
        if (error instanceof TeamError && error.code === 'gate_rejected') return false;
        throw error;
      }
    }),
  );
  queues.close();
  list.close();
  await git.requireGreen(plan.tasks.length);
  await ledger.close();
  return { ms, gates };
}
