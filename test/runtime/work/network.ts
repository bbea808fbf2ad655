import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { JoinInput } from '../../../src/core/member.ts';
import { parse } from '../../../src/core/parse.ts';
import type { TeamWork } from '../../../src/core/team-work.ts';
import { CreateTeamInput } from '../../../src/core/team.ts';
import { natsJournal } from '../../../src/journal/nats.ts';
import type { NatsJournal } from '../../../src/journal/nats.ts';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { SharedTaskList } from '../../../src/ledger/task-list.ts';
import { keepQueues } from '../../../src/runtime/landing/queue-keeper.ts';
import { openTeamWorks } from '../../../src/runtime/work/team-works.ts';
import type { TeamWorks } from '../../../src/runtime/work/team-works.ts';
import { openProjects } from '../../../src/workspaces.ts';
import { verdict } from '../../ledger/task-lists.ts';
import { PATIENT } from '../../nats/server.ts';
import type { NatsServers } from '../../nats/server.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { commitAll, makeRepository, plainGit, write } from '../../workspaces/project.ts';

const EXEC = { kind: 'exec', command: ['true'] } as const;

let teams = 0;

/** What a daemon has for workspaces, without the daemon. */
export interface Machine {
  readonly name: string;
  /** Its state directory. */
  readonly root: string;
  readonly journal: NatsJournal;
  readonly ledger: Ledger;
  readonly works: TeamWorks;
  readonly tasks: SharedTaskList;
}

/** Machines that share a journal and reach each other. */
export function newNetwork(servers: NatsServers) {
  const url = `${servers.url}?prefix=work${teams++}`;
  const alive = new Map<string, Machine>();

  async function start(
    name: string,
    folders: readonly string[],
    {
      root = realpathSync(temporaryFolder()),
      lands = true,
      sweepEvery = 3_600_000,
      onError = () => {},
    }: { root?: string; lands?: boolean; sweepEvery?: number; onError?: (error: unknown) => void } = {},
  ): Promise<Machine> {
    const journal = await natsJournal(url, PATIENT);
    const ledger = new Ledger(journal);
    const environment = { PATH: process.env['PATH'], HOME: root };
    const projects = await openProjects({
      root,
      environment,
      marks: {},
      endLeftovers: async () => {},
      folders: () => folders,
    });
    const others = {
      names: () => [...alive.keys()].filter((one) => one !== name),
      ask: async (other: string, question: unknown) => {
        const answer = await alive.get(other)?.works.answer(JSON.parse(JSON.stringify(question)));
        return JSON.parse(JSON.stringify(answer ?? null)) as unknown;
      },
    };
    const several = { store: journal.packs, hostId: name, others };
    const works = openTeamWorks({ ledger, projects, several, sweepEvery, onError });
    await works.start();
    const tasks = new SharedTaskList(ledger, { works });
    const gate = { executeTaskCompletedHook: async () => verdict(0), judgesCompletions: async () => false };
    const queues = keepQueues({
      ledger,
      gate,
      git: works,
      hostId: name,
      isAlive: (other) => works.isAlive(other),
      isNear: (state) => works.isNear(state),
      lookEvery: 100,
      onError() {},
    });
    if (lands) await queues.start();
    const machine = { name, root, journal, ledger, works, tasks };
    alive.set(name, machine);
    onTestFinished(async () => {
      queues.close();
      await works.close();
      tasks.close();
      await ledger.close();
      await journal.close();
    });
    return machine;
  }
  return { start, lose: (name: string) => alive.delete(name) };
}

/** A repository with a history, and a clone. */
export function newProject() {
  const folder = realpathSync(temporaryFolder());
  const [first, second] = [join(folder, 'first'), join(folder, 'second')];
  makeRepository(first);
  write(first, { 'src/a.ts': Array.from({ length: 30 }, (_, i) => `line ${i}`).join('\n') });
  const base = commitAll(first);
  plainGit(folder, 'clone', '-q', first, second);
  return { first, second, base, roots: [plainGit(first, 'rev-list', '--max-parents=0', 'HEAD')] };
}

/** A team whose members work on named machines; nobody has its repository where it was brought up. */
export async function raise(
  { ledger }: Machine,
  { base, roots, remote }: { base: string; roots: readonly string[]; remote?: TeamWork['remote'] },
  members: Readonly<Record<string, string>>,
): Promise<string> {
  const teamId = `team-${teams}`;
  const about = {
    workspaces: 'own',
    repository: '/nowhere/project',
    prefix: '',
    branch: `troupe/${teamId}`,
  } as const;
  const work = { ...about, base, roots: [...roots], ...(remote && { remote }) };
  const team = { type: 'team.create', by: '@user', ...parse(CreateTeamInput, { name: teamId }), work } as const;
  await ledger.execute(teamId, team, () => undefined);
  for (const [name, hostId] of Object.entries(members)) {
    const join = { type: 'member.join', by: '@user', ...parse(JoinInput, { name, agent: EXEC }) } as const;
    await ledger.execute(teamId, join, () => undefined);
    await ledger.execute(teamId, { type: 'member.place', by: '@system', memberId: name, hostId }, () => undefined);
  }
  return teamId;
}

/** A member claims a new task and changes files for it. */
export async function begin(machine: Machine, teamId: string, memberId: string, files: Record<string, string>) {
  const { tasks, works } = machine;
  const { id } = await tasks.createTask(teamId, 'lead', { title: `For ${memberId}`, assigneeId: memberId });
  const { epoch } = await tasks.claimTask(teamId, id, memberId);
  await works.begin({ teamId, memberId }, { taskId: id, epoch });
  const { folder } = (await works.open({ teamId, memberId }))!;
  write(folder, files);
  return id;
}

export async function doTask(machine: Machine, teamId: string, memberId: string, files: Record<string, string>) {
  const id = await begin(machine, teamId, memberId, files);
  await machine.tasks.completeTask(teamId, id, memberId);
  return id;
}

/** The depot of a team on a machine, at the tip. */
export async function depotOf({ works }: Machine, teamId: string) {
  await works.align(teamId);
  const { depot, work } = (await works.placeOf(teamId))!;
  expect(plainGit(depot.dir, 'rev-parse', `refs/heads/${work.branch}`)).toBe(work.tip);
  expect(plainGit(depot.dir, 'fsck', '--no-dangling')).toBe('');
  return { dir: depot.dir, tip: work.tip };
}
