import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
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
import { until } from '../../until.ts';
import { commitAll, makeRepository, plainGit, write } from '../../workspaces/project.ts';

const TEAM = 'alpha';
const BRANCH = `troupe/${TEAM}`;
const EXEC = { kind: 'exec', command: ['true'] } as const;

/** A team of two in a repository, with its merge queue. */
async function openStage({ judge, history }: { judge?: () => Promise<void>; history?: 'keep' } = {}) {
  const root = realpathSync(temporaryFolder());
  const repository = join(root, 'project');
  const state = join(root, 'state');
  mkdirSync(state);
  makeRepository(repository);
  write(repository, { 'a.txt': '1\n2\n3\n4\n5\n6\n7\n8\n9\n' });
  const base = commitAll(repository);
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
    async executeTaskCompletedHook() {
      await judge?.();
      return verdict(0);
    },
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
      const { epoch } = await tasks.claimTask(TEAM, id, memberId);
      await works.begin({ teamId: TEAM, memberId }, { taskId: id, epoch });
      const { folder } = (await works.open({ teamId: TEAM, memberId }))!;
      write(folder, files);
      return id;
    },
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

/** A person gets the team's branch into its checkout, as `troupe merge` does. */
function fetchBranch({ repository, depot }: { repository: string; depot: string }): void {
  plainGit(repository, 'fetch', '-q', '--no-write-fetch-head', depot, `+refs/heads/${BRANCH}:refs/heads/${BRANCH}`);
  plainGit(repository, 'checkout', '-q', BRANCH);
}

function commit(repository: string, files: Record<string, string>, ...more: string[]): string {
  write(repository, files);
  plainGit(repository, 'add', '-A');
  plainGit(repository, 'commit', '-q', '-m', 'of the person', ...more);
  return plainGit(repository, 'rev-parse', 'HEAD');
}

for (const history of [undefined, 'keep'] as const) {
  test(`a person adds commits to the branch, and work that waits lands on top of them (${history})`, async () => {
    const judged = Promise.withResolvers<void>();
    let isSlow = false;
    const judge = async (): Promise<void> => {
      if (isSlow) await judged.promise;
    };
    const stage = await openStage({ judge, ...(history && { history }) });
    const { repository, works } = stage;
    await stage.complete('ann', await stage.begin('ann', { 'ann.txt': 'ann\n' }));
    await stage.expectAligned();
    fetchBranch(stage);
    // While a landing is judged.
    isSlow = true;
    const second = await stage.begin('bob', { 'bob.txt': 'bob\n' });
    const landing = stage.complete('bob', second);
    await until('it is judged', () => stage.ledger.view(TEAM, ({ team }) => team?.work?.landing !== undefined));
    const mine = commit(repository, { 'mine.txt': 'mine\n' });
    const from = await stage.tip();
    expect(await works.take(TEAM, { rewrite: false })).toEqual({
      from,
      to: mine,
      commits: 1,
      isMoved: true,
      isRewritten: false,
    });
    judged.resolve();
    await landing;
    const tip = await stage.expectAligned();
    expect(plainGit(stage.depot, 'log', '--first-parent', '--format=%s', `${stage.base}..${tip}`)).toBe(
      'For bob\nof the person\nFor ann',
    );
    const types = await stage.types();
    expect(types.filter((type) => type === 'landing:ended' || type === 'tip:moved')).toEqual([
      'landing:ended',
      'tip:moved',
    ]);
    // What the branch has already changes nothing.
    expect(await works.take(TEAM, { rewrite: false })).toMatchObject({ isMoved: false });
    await expect(works.take(TEAM, { what: 'no-such', rewrite: false })).rejects.toMatchObject({ code: 'not_found' });
    // Whose work it meets is still known.
    const conflicting = await stage.begin('ann', { 'bob.txt': 'by ann\n' });
    await stage.complete('bob', await stage.begin('bob', { 'bob.txt': 'again by bob\n' }));
    await expect(stage.complete('ann', conflicting)).rejects.toMatchObject({
      code: 'gate_rejected',
      message: expect.stringContaining('bob.txt; changed by task #4 "For bob" of bob'),
    });
    expect(stage.errors).toEqual([]);
  });
}

test('commits that a person put on the branch in the depot are taken in', async () => {
  const stage = await openStage();
  const { repository, depot } = stage;
  await stage.complete('ann', await stage.begin('ann', { 'ann.txt': 'ann\n' }));
  await stage.expectAligned();
  fetchBranch(stage);
  const mine = commit(repository, { 'mine.txt': 'mine\n' });
  plainGit(repository, 'push', '-q', depot, `HEAD:refs/heads/${BRANCH}`);
  expect(await stage.expectAligned()).toBe(mine);
  expect(await stage.types()).toContain('tip:moved');
});

test('a rewritten branch is put back and kept, until a person takes it', async () => {
  const stage = await openStage();
  const { repository, depot, works } = stage;
  const kept = () => plainGit(depot, 'for-each-ref', '--format=%(objectname)', `refs/deleted/${TEAM}`);
  await stage.complete('ann', await stage.begin('ann', { 'ann.txt': 'ann\n', 'secret.txt': 'secret\n' }));
  const landed = await stage.expectAligned();
  const second = await stage.begin('bob', { 'bob.txt': 'bob\n' });
  fetchBranch(stage);
  rmSync(join(repository, 'secret.txt'));
  const amended = commit(repository, { 'ann.txt': 'amended\n' }, '--amend');
  plainGit(repository, 'push', '-q', '-f', depot, `HEAD:refs/heads/${BRANCH}`);
  expect(await stage.expectAligned()).toBe(landed);
  expect(kept()).toBe(amended);
  const types = await stage.types();
  expect(types.slice(types.indexOf('tip:refused'))).toEqual(['tip:refused', 'message:sent']);

  await expect(works.take(TEAM, { rewrite: false })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('To have both, merge first: git fetch '),
  });
  expect(await works.take(TEAM, { rewrite: true })).toMatchObject({ to: amended, isMoved: true, isRewritten: true });
  expect(await stage.expectAligned()).toBe(amended);
  expect(kept().split('\n').sort()).toEqual([amended, landed].sort());
  // Work that began from the replaced commit brings only its own change.
  await stage.complete('bob', second);
  const tip = await stage.expectAligned();
  expect(plainGit(depot, 'ls-tree', '--name-only', tip).split('\n')).not.toContain('secret.txt');
  expect([await stage.show('ann.txt'), await stage.show('bob.txt')]).toEqual(['amended', 'bob']);
  expect(plainGit(depot, 'rev-parse', `${tip}~1`)).toBe(amended);
  const { folder } = (await works.open({ teamId: TEAM, memberId: 'bob' }))!;
  expect(readFileSync(join(folder, 'ann.txt'), 'utf8')).toBe('amended\n');

  // The person takes landed work off.
  expect(await works.take(TEAM, { what: stage.base, rewrite: true })).toMatchObject({ isRewritten: true, commits: 0 });
  expect(await stage.expectAligned()).toBe(stage.base);
  await stage.complete('ann', await stage.begin('ann', { 'new.txt': 'new\n' }));
  expect(plainGit(depot, 'rev-parse', `${await stage.expectAligned()}~1`)).toBe(stage.base);
  expect(stage.errors).toEqual([]);
});

test('work in the queue goes back if its save is lost with the depot, and lands when it is handed in again', async () => {
  const removed = Promise.withResolvers<void>();
  let isRemoved = false;
  // A landing that is accepted now would be on record, and lost afterwards.
  const judge = async (): Promise<void> => {
    if (isRemoved) return;
    await removed.promise;
    throw new Error('the gate broke');
  };
  const stage = await openStage({ judge });
  const ids = [
    await stage.begin('ann', { 'ann.txt': 'ann\n' }),
    await stage.begin('bob', { 'bob.txt': 'bob\n' }),
  ] as const;
  const done = Promise.allSettled([stage.complete('ann', ids[0]), stage.complete('bob', ids[1])]);
  const queue = () => stage.ledger.view(TEAM, ({ team }) => team?.work?.queue ?? []);
  await until('both wait', async () => (await queue()).length === 2);
  // In one step: git may write into it.
  renameSync(stage.depot, `${stage.depot}-removed`);
  isRemoved = true;
  removed.resolve();
  for (const outcome of await done) {
    const { message } = (outcome as PromiseRejectedResult).reason as Error;
    expect(message).toContain('The files are still in the folder: complete the task again.');
  }
  expect(await queue()).toEqual([]);
  await Promise.all([stage.complete('ann', ids[0]), stage.complete('bob', ids[1])]);
  await stage.expectAligned();
  expect([await stage.show('ann.txt'), await stage.show('bob.txt')]).toEqual(['ann', 'bob']);
});
