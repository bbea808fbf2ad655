import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { CallError } from '../../../src/client/errors.ts';
import type { TeamEvent } from '../../../src/core/event.ts';
import { connect } from '../../daemon/serve.ts';
import { rounds } from '../../proof.ts';
import { until } from '../../until.ts';
import type { Stage } from '../stage.ts';
import { SETUP } from './agent.ts';

const MEMBERS = ['ann', 'bob', 'cyd'].slice(0, rounds(2, 3));

/** So many tasks are open while kills go on. */
const AHEAD = rounds(2, 4);

/** So many saves a person makes, one after the other. */
const SAVES = 3;

/** A file that a person wrote into a workspace, and that a save which was acknowledged must have. */
export interface Note {
  readonly path: string;
  readonly content: string;
}

/** What people do with a team while it is killed. */
export interface Deeds {
  readonly stage: Stage;
  readonly teamId: string;
  readonly client: Client;
  /** What the answered saves have. */
  known(): readonly Note[];
  /** All notes that were written, also those that no answered save has. */
  written(): readonly Note[];
  /** Ids of saves that an answer or an event named. */
  saves(): ReadonlySet<string>;
  events(): readonly TeamEvent[];
  /** How many tasks there are. */
  created(): number;
  addTasks(): Promise<void>;
  /** Begins to save, and one of the deeds; or waits for something that the team does. Returns what. */
  begin(): Promise<string>;
  /** Waits until everything that was begun is answered and all tasks are done. */
  finish(): Promise<void>;
  /** Begins to delete the team. */
  remove(): void;
  /** Waits until the team is deleted: again, if a command of git was killed at that. */
  removed(): Promise<void>;
  /** Begins to remove what is in the trash. */
  clean(): void;
  cleaned(): Promise<void>;
}

/** Brings the team up. */
export async function openDeeds({
  stage,
  repository,
  teamId,
  random,
}: {
  stage: Stage;
  repository: string;
  teamId: string;
  random: () => number;
}): Promise<Deeds> {
  const { home, folder } = stage;
  const file = {
    team: teamId,
    members: MEMBERS.map((name) => ({ name, agent: { exec: ['sh', join(folder, 'agent.sh')] } })),
    tasks: [],
    work: { setup: SETUP },
  };
  writeFileSync(join(repository, 'troupe.yaml'), JSON.stringify(file));
  const up = await stage.troupe('up', join(repository, 'troupe.yaml'), '--yes', '--detach');
  expect(up.code, up.stderr).toBe(0);

  const client = connect(home, { patience: 3_600_000 });
  const events = follow(client, teamId);
  const notes: Note[] = [];
  const known: Note[] = [];
  const saves = new Set<string>();
  const open = new Set<Promise<void>>();
  const problems: string[] = [];
  let created = 0;

  /** Calls without waiting. A kill may make it fail; then it was not acknowledged. */
  const call = (what: string, work: () => Promise<void>): void => {
    const done = work()
      .catch((error: unknown) => {
        if (!(error instanceof CallError)) throw error;
        // The depot and the journal are never damaged, whatever is killed.
        if (error.code === 'corrupt' || error.code === 'internal') problems.push(`${what}: ${error.message}`);
      })
      .finally(() => open.delete(done));
    open.add(done);
  };
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

  /** A person writes files into a workspace. Each is saved when the one before is: the first one from a base is saved in another way. */
  const save = (): void => {
    const memberId = pick(MEMBERS);
    const workspace = join(home.directory, 'workspaces', teamId, memberId);
    call('work.check', async () => {
      for (let i = 0; i < SAVES; i++) {
        if (!existsSync(join(workspace, '.git'))) return;
        const note = { path: `notes/${teamId}-${notes.length}`, content: `${memberId} ${random()}\n`.repeat(3) };
        notes.push(note);
        mkdirSync(join(workspace, 'notes'), { recursive: true });
        writeFileSync(join(workspace, note.path), note.content);
        await client.call('work.check', { teamId, memberId });
        known.push(note);
      }
    });
  };

  const deeds: Record<string, () => Promise<void> | void> = {
    save,
    saves: () =>
      call('work.saves', async () => {
        for (const { commit } of await client.call('work.saves', { teamId })) saves.add(commit);
      }),
    refresh: () =>
      call('work.refresh', async () => void (await client.call('work.refresh', { teamId, memberId: pick(MEMBERS) }))),
    member() {
      const memberId = pick(MEMBERS);
      call('member.remove', async () => {
        await client.call('member.remove', { teamId, memberId, reason: 'for a while' });
        await client.call('member.restart', { teamId, memberId });
      });
    },
    begun: () => events.next('work:begun'),
    submitted: () => events.next('work:submitted'),
    landed: () => events.next('work:landed'),
    claimed: () => events.next('task:claimed'),
  };

  /** A person lets members go on that were killed too often, or whose setup was, and starts those that were removed. */
  const help = async (): Promise<void> => {
    for (const { id, kind } of await client.call('request.list', { teamId, status: 'pending' })) {
      if (kind !== 'restart') continue;
      call('request.answer', async () => {
        await client.call('request.answer', { teamId, requestId: id, approve: true });
      });
    }
  };

  const remove = (): void =>
    call('team.delete', async () => void (await client.call('team.delete', { teamId, force: true })));
  const clean = (): void => call('work.clean', async () => void (await client.call('work.clean', { ids: ['trash'] })));

  return {
    stage,
    teamId,
    client,
    known: () => known,
    written: () => notes,
    saves: () => {
      for (const event of events.all) {
        if (event.type === 'work:submitted' || event.type === 'work:kept') saves.add(event.commit);
        if (event.type === 'work:landed') saves.add(event.commit).add(event.merged);
      }
      return saves;
    },
    events: () => events.all,
    created: () => created,
    async addTasks() {
      await help();
      for (let i = created - events.count('task:completed'); i < AHEAD; i++) {
        await client.call('task.create', { teamId, title: `Task ${++created}` });
      }
    },
    async begin() {
      save();
      const name = pick(Object.keys(deeds));
      await deeds[name]?.();
      return name;
    },
    async finish() {
      for (let n = events.count('task:completed') + 1; n <= created; n++) {
        await until(`${n} of ${created} tasks are done`, async () => {
          await help();
          return events.count('task:completed') >= n;
        });
      }
      await until('all is answered', () => open.size === 0);
      expect(problems).toEqual([]);
    },
    remove,
    async removed() {
      await until('the team is deleted', async () => {
        if (open.size > 0) return false;
        if ((await client.call('team.list', {})).every(({ name }) => name !== teamId)) return true;
        remove();
        return false;
      });
    },
    clean,
    async cleaned() {
      clean();
      await until('all is answered', () => open.size === 0);
      expect((await client.call('work.leftovers', {})).filter(({ kind }) => kind === 'trash')).toEqual([]);
      expect(problems).toEqual([]);
      client.close();
    },
  };
}

/** The events of a team, as they come. */
function follow(client: Client, teamId: string) {
  const all: TeamEvent[] = [];
  let wake: (() => void) | undefined;
  void (async () => {
    for await (const { events } of client.subscribe(teamId, { after: 0 })) {
      all.push(...(events as TeamEvent[]));
      wake?.();
    }
  })().catch(() => {});
  const count = (type: string): number => all.filter((event) => event.type === type).length;
  return {
    all,
    count,
    /** Resolves when one more such event has come, or none for a while. */
    async next(type: string): Promise<void> {
      const before = count(type);
      const enough = sleep(800);
      let isOver = false;
      void enough.then(() => (isOver = true));
      while (count(type) === before && !isOver) {
        await Promise.race([enough, new Promise<void>((resolve) => (wake = resolve))]);
      }
    },
  };
}
