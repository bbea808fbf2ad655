import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { HookResult } from '../../../src/core/hook.ts';
import { JoinInput } from '../../../src/core/member.ts';
import { parse } from '../../../src/core/parse.ts';
import { CreateTeamInput } from '../../../src/core/team.ts';
import { memoryJournal } from '../../../src/journal/memory.ts';
import { Ledger } from '../../../src/ledger/ledger.ts';
import type { TaskGate } from '../../../src/ledger/task-gate.ts';
import { SharedTaskList } from '../../../src/ledger/task-list.ts';
import { keepQueues } from '../../../src/runtime/landing/queue-keeper.ts';
import { openTeamWorks } from '../../../src/runtime/work/team-works.ts';
import { openProjects } from '../../../src/workspaces.ts';
import { verdict } from '../../ledger/task-lists.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { commitAll, makeRepository, plainGit, write } from '../../workspaces/project.ts';

export const TEAM = 'alpha';
export const BRANCH = `troupe/${TEAM}`;
const EXEC = { kind: 'exec', command: ['true'] } as const;

/** A team of two in a repository, with its merge queue. */
export async function openStage({
  judge,
  history,
  prepare,
}: {
  judge?: (taskId: string) => Promise<HookResult | void>;
  history?: 'keep';
  /** Changes the repository before the team begins. */
  prepare?: (repository: string) => void;
} = {}) {
  const root = realpathSync(temporaryFolder());
  const repository = join(root, 'project');
  const state = join(root, 'state');
  mkdirSync(state);
  makeRepository(repository);
  write(repository, { 'a.txt': '1\n2\n3\n4\n5\n6\n7\n8\n9\n' });
  commitAll(repository);
  prepare?.(repository);
  const base = plainGit(repository, 'rev-parse', 'HEAD');
  const ledger = new Ledger(memoryJournal());
  const environment = { PATH: process.env['PATH'], HOME: state };
  const projects = await openProjects({
    root: state,
    environment,
    marks: {},
    endLeftovers: async () => {},
    folders: () => [],
  });
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const works = openTeamWorks({ ledger, projects, onError });
  await works.start();
  const gate: TaskGate = {
    executeTaskCompletedHook: async ({ taskId }) => (await judge?.(taskId)) ?? verdict(0),
    judgesCompletions: async () => judge !== undefined,
  };
  const tasks = new SharedTaskList(ledger, { gate, works });
  const queues = keepQueues({
    ledger,
    gate,
    git: works,
    hostId: 'here',
    isAlive: () => false,
    isNear: () => true,
    lookEvery: 50,
    onError,
  });
  await queues.start();
  onTestFinished(async () => {
    queues.close();
    await works.close();
    tasks.close();
    await ledger.close();
  });
  const work = {
    workspaces: 'own',
    repository,
    prefix: '',
    branch: BRANCH,
    base,
    ...(history && { history }),
  } as const;
  const team = { type: 'team.create', by: '@user', ...parse(CreateTeamInput, { name: TEAM }), work } as const;
  await ledger.execute(TEAM, team, () => undefined);
  for (const name of ['ann', 'bob']) {
    const join = { type: 'member.join', by: '@user', ...parse(JoinInput, { name, agent: EXEC }) } as const;
    await ledger.execute(TEAM, join, () => undefined);
  }
  await works.align(TEAM);
  const { depot } = (await works.placeOf(TEAM))!;

  /** A member claims a task; returns its folder. */
  async function claim(memberId: string, id: string): Promise<string> {
    const { epoch } = await tasks.claimTask(TEAM, id, memberId);
    await works.begin({ teamId: TEAM, memberId }, { taskId: id, epoch });
    const { folder } = (await works.open({ teamId: TEAM, memberId }))!;
    return folder;
  }

  return {
    repository,
    base,
    ledger,
    works,
    tasks,
    errors,
    depot: depot.dir,
    /** A member claims a new task and writes files for it. */
    async begin(memberId: string, files: Record<string, string>): Promise<string> {
      const { id } = await tasks.createTask(TEAM, 'lead', { title: `For ${memberId}`, assigneeId: memberId });
      write(await claim(memberId, id), files);
      return id;
    },
    claim,
    complete: (memberId: string, id: string) => tasks.completeTask(TEAM, id, memberId),
    tip: () => ledger.view(TEAM, ({ team }) => team?.work?.tip ?? ''),
    show: async (path: string) =>
      plainGit(depot.dir, 'show', `${await ledger.view(TEAM, (state) => state.team?.work?.tip)}:${path}`),
    /** Git's ref is where the journal says. */
    async expectAligned(): Promise<string> {
      await works.align(TEAM);
      const tip = await ledger.view(TEAM, (state) => state.team?.work?.tip ?? '');
      expect(plainGit(depot.dir, 'rev-parse', `refs/heads/${BRANCH}`)).toBe(tip);
      expect(plainGit(depot.dir, 'fsck', '--connectivity-only', '--no-dangling')).toBe('');
      return tip;
    },
    async types(): Promise<string[]> {
      const found: string[] = [];
      for await (const { events } of ledger.read(TEAM, 0)) found.push(...events.map(({ type }) => type));
      return found;
    },
  };
}
