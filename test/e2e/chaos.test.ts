import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { TeamEvent } from '../../src/core/event.ts';
import { until } from '../until.ts';
import { isAlive, setStage } from './stage.ts';
import type { Stage } from './stage.ts';

/** More rounds: more kills and more mail over more tasks. One takes about half a minute on two idle cores. */
const ROUNDS = Number(process.env['TROUPE_CHAOS_ROUNDS'] ?? 1);
const SEED = Number(process.env['TROUPE_CHAOS_SEED'] ?? Date.now() % 100_000);

const MEMBERS = Array.from({ length: 8 }, (_, i) => `m${i}`);
const TASKS = 200;
const TEAMMATE_KILLS = 12;
const DAEMON_KILLS = 2;

test.each(Array.from({ length: ROUNDS }, (_, i) => SEED + i))(
  '8 teammates, 200 tasks, kill -9 at random (seed %i): each task completed once, each message shown once or marked',
  async (seed) => {
    const stage = setStage();
    const random = generator(seed);
    const tasks = Array.from({ length: TASKS }, (_, i) => ({
      id: `t${i}`,
      title: `Task ${i}`,
      needs: i < 10 ? [] : [...new Set([0, 1].map(() => `t${Math.floor(random() * i)}`))],
    }));
    const members = MEMBERS.map((name) => {
      const member = stage.member(name, 'quick') as { agent: object };
      return { ...member, agent: { ...member.agent, messages: true } };
    });
    const { code, stderr } = await stage.troupe('up', stage.teamFile({ team: 'crew', members, tasks }), '--detach');
    expect(code, stderr).toBe(0);
    await Promise.all([makeTrouble(stage, random), sendMail(stage, random)]);
    const client = stage.client();
    await until(
      'all tasks are completed',
      async () => (await client.call('team.status', { teamId: 'crew' })).tasks['completed'] === TASKS,
    );
    await until('all mail is with its agents', async () => (await mail(stage)).every((one) => one.acknowledgedAt));

    const completions = (await history(stage)).flatMap((event) =>
      event.type === 'task:completed' ? event.taskId : [],
    );
    expect(completions).toHaveLength(TASKS);
    expect(new Set(completions).size).toBe(TASKS);
    const unmarked = stage
      .work()
      .flatMap(({ messages, memberId }) =>
        messages.filter(({ redeliveries }) => redeliveries === 0).map(({ id }) => `${memberId} ${id}`),
      );
    expect(unmarked.length).toBeGreaterThan(0);
    expect(new Set(unmarked).size).toBe(unmarked.length);
    await until('everybody is there', async () => {
      const all = await client.call('member.list', { teamId: 'crew' });
      return all.every(({ status }) => status !== 'stopped') && stage.records().length === MEMBERS.length;
    });
  },
);

/** Kills teammates, and now and then the daemon. Nobody dies so often that it is given up. */
async function makeTrouble(stage: Stage, random: () => number): Promise<void> {
  const kills = new Map<string, number>();
  for (let i = 1; i <= TEAMMATE_KILLS; i++) {
    await pause(200 + random() * 600);
    if (i % Math.floor(TEAMMATE_KILLS / DAEMON_KILLS) === 0) {
      const daemon = stage.daemonPid();
      process.kill(daemon, 'SIGKILL');
      await until('the daemon is gone', () => !isAlive(daemon));
      await stage.ask('status');
    }
    const victims = stage
      .records()
      .filter(({ identity, memberId = '' }) => identity && isAlive(identity.pid) && (kills.get(memberId) ?? 0) < 2);
    const victim = victims[Math.floor(random() * victims.length)];
    if (!victim?.identity || victim.memberId === undefined) continue;
    kills.set(victim.memberId, (kills.get(victim.memberId) ?? 0) + 1);
    process.kill(victim.identity.pid, 'SIGKILL');
  }
}

async function sendMail(stage: Stage, random: () => number): Promise<void> {
  for (let i = 0; i < 40; i++) {
    await pause(100 + random() * 200);
    const toId = MEMBERS[Math.floor(random() * MEMBERS.length)] as string;
    await stage
      .client()
      .call('message.send', { teamId: 'crew', toId, content: `message ${i}`, messageId: `mail-${i}` });
  }
}

async function mail(stage: Stage) {
  const inboxes = MEMBERS.map((memberId) => stage.client().call('message.inbox', { teamId: 'crew', memberId }));
  return (await Promise.all(inboxes)).flat();
}

async function history(stage: Stage): Promise<TeamEvent[]> {
  const { seq } = await stage.client().call('team.status', { teamId: 'crew' });
  const events: TeamEvent[] = [];
  for await (const batch of stage.client().subscribe('crew', { after: 0 })) {
    events.push(...(batch.events as TeamEvent[]));
    if (batch.seq >= seq) break;
  }
  return events;
}

/** Numbers that look random and are the same for the same seed. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}
