import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { TeamState } from '../../src/core/state.ts';
import { TEAM } from './cast.ts';
import { heal, strikeAgain } from './faults.ts';
import { table } from './processes.ts';
import { advance, checkRest, isAtRest } from './run.ts';
import { scheduler } from './scheduler.ts';
import { World } from './world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** In each hour, for so long tasks and messages come, and faults if there are any. Then everything has to come to rest. */
const BUSY_MS = 20 * MINUTE;
/** At the end of each hour nothing may be written for so long. */
const IDLE_MS = 15 * MINUTE;
const TASKS_PER_HOUR = 4;
const FAULTS_PER_HOUR = 60;
/** In the middle of a day without other faults, which is more than an hour, no provider takes a turn for so long, or says until when. */
const CLOSED_MS = 6 * HOUR;

export interface DayOptions {
  readonly seed: number;
  readonly hours: number;
  readonly machines: number;
  readonly isFaulty: boolean;
}

/** What there is at the end of an hour. */
export interface HourEnd {
  readonly hour: number;
  readonly steps: number;
  /** Batches that were written in the hour, and in its idle end. */
  readonly batches: number;
  readonly idleBatches: number;
  /** What the daemons have planned: timers and waits. */
  readonly daemonPlans: number;
  /** The same of all processes of members. */
  readonly memberPlans: number;
  readonly processes: number;
  /** Turns that providers refused in the hour. */
  readonly refused: number;
  readonly state: Readonly<Record<string, number>>;
}

export interface DayResult {
  readonly hours: readonly HourEnd[];
  /** How long it took until everything was at rest after the last hour, in simulated milliseconds. */
  readonly simulatedMs: number;
  /** Bytes that are used at the end of the day, after a garbage collection, and when new daemons have opened the same journal. */
  readonly heap: { readonly old: number; readonly fresh: number };
  /** What old and new daemons have planned. */
  readonly plans: { readonly old: number; readonly fresh: number };
  readonly violation: string | undefined;
}

/** A team that is used for hours, with rest at the end of each. */
export async function simulateDay({ seed, hours, machines, isFaulty }: DayOptions): Promise<DayResult> {
  scheduler.reset(seed);
  const world = new World({ machines, members: 3, tasks: 3, apart: true }, () => {});
  const { checks } = world;
  const ends: HourEnd[] = [];
  try {
    for (const machine of world.machines) machine.start();
    let isSetUp = false;
    world.person.does(async () => {
      await world.person.setUp();
      isSetUp = true;
    });
    world.isFaulty = isFaulty;
    await advance(world, () => isSetUp);
    repeat(world, 30_000, () => world.person.lookAfter());
    for (let hour = 1; hour <= hours && !checks.violation; hour++) {
      if (!isFaulty && hours > 1 && hour === Math.ceil(hours / 2)) closeAccounts(world);
      ends.push(await liveHour(world, hour, isFaulty));
    }
    if (!checks.violation) checkRest(world);
    const old = { heap: usedBytes(), plans: daemonPlans(world) };
    for (const machine of world.machines) {
      machine.kill();
      machine.start();
    }
    // Longer than any timer of the old ones, so that nothing of them is left in the queue.
    const until = scheduler.now + 2 * HOUR;
    await advance(world, () => scheduler.now >= until);
    const fresh = { heap: usedBytes(), plans: daemonPlans(world) };
    return {
      hours: ends,
      simulatedMs: scheduler.now,
      heap: { old: old.heap, fresh: fresh.heap },
      plans: { old: old.plans, fresh: fresh.plans },
      violation: checks.violation?.message,
    };
  } finally {
    world.remove();
  }
}

async function liveHour(world: World, hour: number, isFaulty: boolean): Promise<HourEnd> {
  const { checks } = world;
  const began = scheduler.now;
  const before = { ...checks.counts, steps: scheduler.steps };
  world.isFaulty = isFaulty;
  let made = 0;
  const busyUntil = began + BUSY_MS;
  const isBusy = (): boolean => scheduler.now < busyUntil;
  repeat(world, BUSY_MS / (TASKS_PER_HOUR + 1), () => addTask(world, ++made), isBusy);
  repeat(world, 2 * MINUTE, () => world.person.sendMessage(), isBusy);
  const apartMs = (2 * BUSY_MS) / FAULTS_PER_HOUR;
  const strikes = isFaulty ? strikeAgain(world, FAULTS_PER_HOUR, { apartMs }) : { isOver: () => true };
  await advance(world, () => !isBusy() && strikes.isOver());
  if (isFaulty) heal(world);
  // An account that a provider has closed is open again after two minutes at most.
  await advance(world, () => isAtRest(world) || scheduler.now - began > 12 * HOUR);
  checks.require(isAtRest(world), `Hour ${hour} did not come to rest`);
  const restUntil = Math.max(began + HOUR - IDLE_MS, scheduler.now + 10 * MINUTE);
  await advance(world, () => scheduler.now >= restUntil);
  const idle = { batches: checks.counts.batches, until: restUntil + IDLE_MS };
  await advance(world, () => scheduler.now >= idle.until);
  return {
    hour,
    steps: scheduler.steps - before.steps,
    batches: checks.counts.batches - before.batches,
    idleBatches: checks.counts.batches - idle.batches,
    daemonPlans: daemonPlans(world),
    memberPlans: table.running().reduce((sum, { owner }) => sum + scheduler.planned(owner), 0),
    processes: table.running().length,
    refused: checks.counts.refused - before.refused,
    state: await lookInside(world),
  };
}

function closeAccounts(world: World): void {
  const until = scheduler.now + CLOSED_MS;
  for (const { id } of world.checks.state.members.values()) {
    if (/^w\d+$/.test(id)) world.closed.set(world.accountOf(id), { until, isNamed: false });
  }
}

async function addTask(world: World, number: number): Promise<void> {
  if (number > TASKS_PER_HOUR) return;
  await world.person.call('task.create', { teamId: TEAM, title: `Later ${number}` });
}

/** Does something as the person, again and again. */
function repeat(world: World, ms: number, work: () => Promise<unknown>, isOn: () => boolean = () => true): void {
  const next = (): void => {
    if (!isOn()) return;
    world.person.does(work);
    world.later(ms, next);
  };
  world.later(ms, next);
}

function daemonPlans({ machines }: World): number {
  return machines.reduce((sum, { daemon }) => sum + (daemon ? scheduler.planned(daemon.owner) : 0), 0);
}

/** The sizes of what a daemon holds of the team. Its own state, not that of the checks: deciding changes indexes, too. */
async function lookInside(world: World): Promise<Record<string, number>> {
  let sizes: Record<string, number> | undefined;
  world.person.does(async () => {
    sizes = await world.anyDaemon()?.services.ledger.view(TEAM, sizesOf);
  });
  await advance(world, () => sizes !== undefined);
  return sizes ?? {};
}

function sizesOf(state: TeamState): Record<string, number> {
  const sizes: Record<string, number> = {};
  for (const [name, value] of [...Object.entries(state), ...Object.entries(state.index)]) {
    if (value instanceof Map || value instanceof Set) sizes[name] = value.size;
    else if (Array.isArray(value)) sizes[name] = value.length;
    else if (value && typeof value === 'object' && 'size' in value) sizes[name] = Number(value.size);
  }
  return sizes;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function usedBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
