import { createHash } from 'node:crypto';
import type { TeamMessage } from '../../src/core/message.ts';
import { isExpected } from '../../src/core/state.ts';
import { watchMembers } from './attended.ts';
import type { Cast } from './cast.ts';
import type { Violation } from './checks.ts';
import { heal, strikeAgain } from './faults.ts';
import { compareMemory } from './memory.ts';
import { OUTSIDER } from './outsider.ts';
import { gates, orphans, runsMember, table } from './processes.ts';
import { scheduler } from './scheduler.ts';
import { Killed } from './stand-ins/files.ts';
import { World } from './world.ts';

export interface RunOptions {
  readonly seed: number;
  /** How many faults there are; then everything has to come to rest. */
  readonly faults: number;
  /** Faults that are left out, by their number. */
  readonly skipped?: ReadonlySet<number>;
  /**
   * What the team is: one of ours alone, one that is joined to a team of Claude Code's, or one whose journal is the real one,
   * in a file or on NATS.
   */
  readonly kind?: Kind;
  readonly cast?: Partial<Cast>;
  /** Gets a line for everything that happens. */
  readonly trace?: (line: string) => void;
}

export type Kind = 'team' | 'bridge' | 'sqlite' | 'nats';
export const KINDS: readonly Kind[] = ['team', 'bridge', 'sqlite', 'nats'];

export interface RunResult {
  readonly seed: number;
  readonly steps: number;
  /** Simulated milliseconds. */
  readonly time: number;
  readonly cast: Cast;
  readonly counts: World['checks']['counts'];
  /** The same for two runs in which the same happened, byte for byte. */
  readonly fingerprint: string;
  readonly violation: Violation | undefined;
}

/** How long everything may take to come to rest, in simulated time, and how long nothing happens if it never will. */
const REST_MS = 12 * 3_600_000;
const QUIET_MS = 3_600_000;
const QUIET_BRIDGE_MS = 400_000;

/** How long everything has to be at rest before it counts. */
const SETTLE_MS = 20_000;

/** More steps than that within a second are a loop. */
const STANDSTILL = 6_000;

/** One simulated run. */
export async function simulate(options: RunOptions): Promise<RunResult> {
  const { seed, skipped = new Set(), trace } = options;
  scheduler.reset(seed);
  const random = scheduler.random('cast');
  const machines = random.pick([1, 1, 2, 3]);
  const cast = {
    machines,
    members: 2 + random.below(4),
    tasks: 6 + random.below(20),
    apart: random.chance(0.7),
    ...(options.kind === 'bridge' && {
      machines: 1,
      apart: false,
      native: scheduler.random('native').pick(['2.1.37', '2.1.325'] as const),
    }),
    ...(options.kind === 'sqlite' && { machines: 1, isInFile: true }),
    ...(options.kind === 'nats' && {
      machines: random.pick([1, 2, 2, 3]),
      nats: random.pick(['2.9.10', '2.10.27', '2.12.1']),
    }),
    ...options.cast,
  };
  const hash = createHash('sha256');
  const log = (text: string): void => {
    const line = `${String(scheduler.steps).padStart(7)} ${clock()} ${scheduler.owner().name}: ${text}`;
    hash.update(line);
    trace?.(line);
  };
  const world = new World(cast, log);
  const { checks } = world;
  const unhandled = (reason: unknown): void => {
    if (reason instanceof Killed) return;
    checks.fail(`Unhandled rejection: ${reason instanceof Error ? reason.stack : String(reason)}`);
  };
  process.on('unhandledRejection', unhandled);
  try {
    for (const machine of world.machines) machine.start();
    let isSetUp = false;
    world.person.does(async () => {
      await world.person.setUp();
      isSetUp = true;
    });
    const strikes = strikeAgain(world, options.faults, { skipped });
    const every = (ms: number, work: () => Promise<unknown>, isOver: () => boolean): void => {
      const next = (): void => {
        if (isOver()) return;
        if (isSetUp) world.person.does(work);
        world.later(ms, next);
      };
      world.later(ms, next);
    };
    let isOver = false;
    every(
      30_000,
      () => world.person.lookAfter(),
      () => isOver,
    );
    every(
      7_000,
      () => world.person.sendMessage(),
      () => isOver || !world.isFaulty,
    );
    await advance(world, () => strikes.isOver());
    heal(world);
    log('everything works again');
    // The team is used on, and nothing that goes wrong later hides what goes wrong now.
    const isUsed = useAgain(world);
    const until = scheduler.now + REST_MS;
    let last = { batches: 0, at: 0 };
    const isQuiet = (): boolean => {
      const { batches } = checks.counts;
      if (batches !== last.batches) last = { batches, at: scheduler.now };
      return scheduler.now - last.at > (world.isNative ? QUIET_BRIDGE_MS : QUIET_MS);
    };
    let restsSince = Infinity;
    // Processes that were told to end have a while for it.
    const isRested = (): boolean => {
      restsSince = isUsed() && isAtRest(world) ? Math.min(restsSince, scheduler.now) : Infinity;
      return scheduler.now - restsSince > SETTLE_MS;
    };
    await advance(world, () => scheduler.now >= until || isRested() || isQuiet());
    isOver = true;
    if (!checks.violation) checkRest(world);
    if (!checks.violation) await advance(world, compareMemory(world));
  } finally {
    process.off('unhandledRejection', unhandled);
    world.remove();
  }
  return {
    seed,
    steps: scheduler.steps,
    time: scheduler.now,
    cast,
    counts: checks.counts,
    fingerprint: hash.digest('hex').slice(0, 16),
    violation: checks.violation,
  };
}

/** Does steps until something is over, nothing is left to do, or a promise is broken. */
export async function advance(world: World, isOver: () => boolean): Promise<void> {
  const { checks } = world;
  const watch = (world.watch ??= watchMembers(world));
  let since = { now: scheduler.now, steps: scheduler.steps };
  while (!checks.violation && !isOver()) {
    try {
      if (!(await scheduler.step())) return;
    } catch (error) {
      if (!(error instanceof Killed)) checks.fail(`A step threw: ${(error as Error).stack}`);
    }
    checks.landing.checkTip();
    watch();
    if (scheduler.now - since.now > 1_000) since = { now: scheduler.now, steps: scheduler.steps };
    checks.require(scheduler.steps - since.steps < STANDSTILL, `${STANDSTILL} steps within a second`);
  }
}

/** A person intervenes a few times more. Says whether the last time is over. */
function useAgain(world: World): () => boolean {
  const random = scheduler.random('use');
  let left = 1 + random.below(3);
  const next = (): void => {
    world.person.does(() =>
      world.person.intervene().finally(() => {
        if (--left > 0) world.later(random.between(100, 20_000), next);
      }),
    );
  };
  next();
  return () => left <= 0;
}

/** Nothing is left to do, and nobody waits for anything. */
export function isAtRest(world: World): boolean {
  const { state } = world.checks;
  const { cast, native } = world;
  const { tasks, members, requests } = state;
  if (tasks.size < cast.tasks || gates().length > 0) return false;
  return (
    [...tasks.values()].every(({ status }) => status === 'completed') &&
    [...members.values()].every((member) => !member.agent || ['idle', 'active'].includes(member.status)) &&
    [...requests.values()].every(({ status }) => status !== 'pending') &&
    [...state.messages.values()].every((message) => isSeen(message, world)) &&
    native?.checks.difference(state) === undefined
  );
}

/** Mail to an agent has reached it, whoever runs it. */
function isSeen({ id, toId, acknowledgedAt }: TeamMessage, { checks: { state }, native }: World): boolean {
  if (native && !native.checks.isSeen(toId, id, acknowledgedAt)) return false;
  const { members } = state;
  const reads = members.get(toId)?.agent !== undefined || toId === OUTSIDER;
  return !reads || acknowledgedAt !== undefined;
}

export function checkRest(world: World): void {
  const { checks, machines, cast } = world;
  const { state } = checks;
  const open = [...state.tasks.values()].filter(({ status }) => status !== 'completed');
  const said = open.map(
    ({ id, status, assigneeId = 'nobody', work }) => `${id} ${status} ${assigneeId} ${work?.state ?? ''}`,
  );
  checks.require(open.length === 0 && state.tasks.size >= cast.tasks, `Tasks did not end: ${said.join('; ')}`);
  const unseen = [...state.messages.values()].filter((message) => !isSeen(message, world));
  checks.require(
    unseen.length === 0,
    `Messages did not arrive: ${unseen.map(({ id, toId }) => `${id} to ${toId}`).join()}`,
  );
  const difference = world.native?.checks.difference(state);
  checks.require(difference === undefined, `The native files differ: ${difference}`);
  if (cast.apart && !checks.violation) {
    checks.landing.ended(world.repository.files(state.team?.work?.tip ?? ''));
  }
  const left = gates();
  checks.require(left.length === 0, `${left.length} processes of gates are left: ${left[0]?.command.join(' ')}`);
  const forgotten = orphans();
  checks.require(forgotten.length === 0, `${forgotten.length} programs of agents are left without their member`);
  // Exactly one process for each member, on the machine that the journal names.
  for (const member of state.members.values()) {
    if (!member.agent || !isExpected(member)) continue;
    const of = table.running().filter((process) => runsMember(process, member.id));
    checks.require(
      of.length === 1,
      `${member.id} (${member.status}) has ${of.length} processes: ${of.map(({ machine }) => machine).join()}`,
    );
    checks.require(
      of.every(({ machine }) => machines.length === 1 || machine === member.hostId),
      `${member.id} runs on another machine than ${member.hostId}`,
    );
  }
}

function clock(): string {
  return `${(scheduler.now / 1_000).toFixed(3)} s`;
}
