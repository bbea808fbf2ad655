import { setTimeout as sleep } from 'node:timers/promises';
import { GUEST, visit, visitInAllWays } from './clients.ts';
import { attempt, count } from './ground.ts';
import type { Ground } from './ground.ts';
import { STAYS } from './measure.ts';
import { bringUp, killMember, liveTeam, MEMBERS, pick } from './teams.ts';

/** Brings up the team that stays. */
export async function openSteady(on: Ground): Promise<void> {
  await bringUp(on, STAYS, false);
  await on.client.call('member.add', { teamId: STAYS, name: GUEST });
}

/** Everything once, one after the other. */
export async function loadOnce(on: Ground, number: number): Promise<void> {
  await openSteady(on);
  await visitInAllWays(on, STAYS);
  await liveTeam(on, `crew-${number}`, { tasks: 3, apart: false, kill: false });
  await liveTeam(on, `works-${number}`, { tasks: 2, apart: true, kill: true });
  await on.client.call('team.delete', { teamId: STAYS, force: true });
}

/** With more, it is not worth to go on. */
const MOST_PROBLEMS = 20;

/** How much shorter the rests are at first. */
const WARM_UP = 20;

/**
 * A steady load until a moment: about a third of a core on the machine it was measured on. Every lane does one thing at a time and rests
 * in between, so that a busy machine gets less of it, not a queue. While `isWarmingUp`, the lanes that leave nothing behind hardly rest:
 * V8 compiles what was called often enough, and under the steady load alone that takes it hours.
 */
export async function loadUntil(
  on: Ground,
  { isOver, isWarmingUp }: { readonly isOver: () => boolean; readonly isWarmingUp: () => boolean },
): Promise<void> {
  const { client, random } = on;
  let teams = 0;
  const over = new AbortController();
  const rest = (ms: number): Promise<void> => sleep(ms, undefined, over).catch(() => {});
  const busyLane = (restMs: number, work: () => Promise<unknown>): Promise<void> =>
    lane(() => (isWarmingUp() ? restMs / WARM_UP : restMs), work);
  const lane = async (restMs: () => number, work: () => Promise<unknown>): Promise<void> => {
    while (!isOver()) {
      try {
        await work();
      } catch (error) {
        on.problems.push(`${new Date().toISOString()} ${(error as Error).stack}`);
        if (on.problems.length > MOST_PROBLEMS) throw error;
      }
      await rest(restMs() * (0.5 + random()));
    }
    over.abort();
  };
  await Promise.all([
    busyLane(25_000, () => liveTeam(on, `crew-${++teams}`, { tasks: 8, apart: false, kill: random() < 0.5 })),
    busyLane(60_000, () => liveTeam(on, `works-${++teams}`, { tasks: 4, apart: true, kill: random() < 0.3 })),
    // The same name comes back, as with `troupe up --again`.
    busyLane(120_000, () => liveTeam(on, 'again', { tasks: 3, apart: true, kill: false })),
    busyLane(1_500, () => visit(on, STAYS)),
    // Few: what a team that stays has done stays in memory by right, about 1 kB a minute.
    lane(
      () => 90_000,
      async () => {
        const toId = pick(on, MEMBERS);
        await attempt(on, () => client.call('message.send', { teamId: STAYS, toId, content: 'How is it going?' }));
        count(on, 'messages');
      },
    ),
    lane(
      () => 180_000,
      () =>
        attempt(on, async () => {
          const assigneeId = pick(on, MEMBERS);
          const task = await client.call('task.create', { teamId: STAYS, title: 'A task', assigneeId });
          count(on, 'tasks');
          await rest(10_000);
          if (random() < 0.5) await client.call('task.delete', { teamId: STAYS, taskId: task.id });
        }),
    ),
    lane(
      () => 240_000,
      async () => {
        await rest(60_000);
        await killMember(on, STAYS);
      },
    ),
  ]);
}
