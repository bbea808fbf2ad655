import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openProcessRecords } from '../../../src/runtime/process-records.ts';
import { rounds } from '../../proof.ts';
import { attempt, count, waitFor } from './ground.ts';
import type { Ground } from './ground.ts';

/** Each has a process, whose start is most of what npm test pays for this. */
export const MEMBERS = ['ann', 'bob'].slice(0, rounds(1, 2));

interface Life {
  readonly tasks: number;
  /** In workspaces of their own, with a merge queue. */
  readonly apart: boolean;
  /** A member is killed on the way. */
  readonly kill: boolean;
}

/**
 * The life of a team: it is brought up, claims, is judged, hands in, gets mail, loses a process, is closed and deleted. What it left
 * behind on purpose, for people, is removed too.
 */
export async function liveTeam(on: Ground, teamId: string, { tasks, apart, kill }: Life): Promise<void> {
  const { client, home, random } = on;
  await bringUp(on, teamId, apart);
  const seen = follow(on, teamId);
  for (let i = 1; i <= tasks; i++) {
    await client.call('task.create', { teamId, title: `Task ${i}`, description: 'A line or two. '.repeat(20) });
    const toId = pick(on, MEMBERS);
    await attempt(on, () => client.call('message.send', { teamId, toId, content: `About task ${i}` }));
    if (kill && i === Math.ceil(tasks / 2)) await killMember(on, teamId);
  }
  if (apart) await attempt(on, () => client.call('work.check', { teamId, memberId: pick(on, MEMBERS) }));
  await waitFor(`the tasks of ${teamId} are done`, async () => {
    await help(on, teamId);
    const list = await client.call('task.list', { teamId });
    return list.every(({ status }) => status === 'completed' || status === 'failed');
  });
  await client.call('team.report', { teamId });
  if (random() < 0.5) await client.call('team.down', { teamId, within: 5_000, ask: false });
  else await client.call('team.close', { teamId, force: true });
  await client.call('team.delete', { teamId, force: true });
  await seen.end();
  const left = (): boolean =>
    openProcessRecords(home.processes)
      .list()
      .some((record) => record.teamId === teamId);
  await waitFor(`the processes of ${teamId} are gone`, () => !left());
  if (apart) await clean(on, teamId);
  rmSync(join(dirname(on.gate), 'marks', teamId), { force: true });
  count(on, apart ? 'teams with workspaces' : 'teams');
  count(on, 'tasks', tasks);
  count(on, 'messages', tasks);
}

/** Brings a team up from its file, as `troupe up --yes` does. */
export async function bringUp(on: Ground, teamId: string, apart: boolean): Promise<void> {
  const { client, repository, project, agent, gate } = on;
  const file = {
    team: teamId,
    members: MEMBERS.map((name) => ({ name, agent: { exec: ['sh', agent] } })),
    tasks: [],
    hooks: { TaskCompleted: { command: `sh ${gate}` } },
    limits: { messagesPerMinute: 1_000 },
    work: { workspaces: apart ? 'own' : 'shared' },
  };
  const folder = apart ? repository : project;
  await client.call('team.up', { source: JSON.stringify(file), folder, yes: true });
}

/** Follows a team as a dashboard does, until it is deleted. */
function follow({ client }: Ground, teamId: string): { end(): Promise<void> } {
  const events = client.subscribe(teamId, { after: 0 });
  const done = (async () => {
    for await (const { events: some } of events) if (some.length === 0) break;
  })().catch(() => {});
  return {
    async end() {
      await Promise.race([events.return(undefined).catch(() => {}), done]);
    },
  };
}

/** Kills the process of a member, if it has one by now. */
export async function killMember(on: Ground, teamId: string): Promise<void> {
  const member = pick(on, MEMBERS);
  const record = openProcessRecords(on.home.processes)
    .list()
    .find((one) => one.teamId === teamId && one.memberId === member);
  if (record?.identity === undefined) return;
  try {
    process.kill(record.identity.pid, 'SIGKILL');
    count(on, 'kills');
  } catch {
    // It has just ended.
  }
}

/** A person lets members go on that were killed too often. */
async function help(on: Ground, teamId: string): Promise<void> {
  for (const { id } of await on.client.call('request.list', { teamId, status: 'pending' })) {
    await attempt(on, () => on.client.call('request.answer', { teamId, requestId: id, approve: true }));
  }
}

/** Removes the folders, the branch and the kept work of a deleted team. */
async function clean({ client }: Ground, teamId: string): Promise<void> {
  const left = await client.call('work.leftovers', {});
  const ids = left.filter(({ of }) => of === teamId || of.startsWith(`${teamId}/`)).map(({ id }) => id);
  if (ids.length > 0) await client.call('work.clean', { ids });
}

export function pick<T>({ random }: Ground, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}
