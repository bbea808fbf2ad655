import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { TeamEvent } from '../../src/core/event.ts';
import { rounds, tell } from '../proof.ts';
import { seededRandom } from '../seed.ts';
import { until } from '../until.ts';
import { isAlive, setStage } from './stage.ts';
import type { Stage } from './stage.ts';

const MEMBERS = Array.from({ length: rounds(4, 8) }, (_, i) => `m${i}`);
const TASKS = rounds(40, 200);
const TEAMMATE_KILLS = rounds(4, 12);
const DAEMON_KILLS = rounds(1, 2);
const MAILS = rounds(10, 40);

test.each(Array.from({ length: rounds(1, 5) }, (_, i) => i + 1))(
  'random kill -9 of teammates and daemon: tasks complete once, and messages are shown once or marked (round %i)',
  async () => {
    const stage = setStage();
    const random = seededRandom();
    const tasks = Array.from({ length: TASKS }, (_, i) => ({
      id: `t${i}`,
      title: `Task ${i}`,
      needs: i < 10 ? [] : [...new Set([0, 1].map(() => `t${Math.floor(random() * i)}`))],
    }));
    const members = MEMBERS.map((name) => {
      const member = stage.member(name, 'quick') as { agent: object };
      return { ...member, agent: { ...member.agent, messages: true } };
    });
    const { code, stderr } = await stage.troupe(
      'up',
      '--yes',
      stage.teamFile({ team: 'crew', members, tasks }),
      '--detach',
    );
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
    tell({ shown: unmarked.length, kills: TEAMMATE_KILLS + DAEMON_KILLS });
    await until('everybody is there', async () => {
      const all = await client.call('member.list', { teamId: 'crew' });
      return all.every(({ status }) => status !== 'stopped') && stage.records().length === MEMBERS.length;
    });
  },
);

/** Kills teammates, and sometimes the daemon. A member dies at most twice, so that Troupe keeps restarting it. */
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
  for (let i = 0; i < MAILS; i++) {
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
