import { readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { views } from '../../../src/cli/show/views/all.ts';
import { until } from '../../until.ts';
import { plainGit, write } from '../../workspaces/project.ts';
import { BRANCH, openStage, TEAM } from './stage.ts';

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

test('commits that a person made on another branch are named, and HEAD takes them after a merge', async () => {
  const stage = await openStage();
  const { repository, works } = stage;
  const own = plainGit(repository, 'symbolic-ref', '--short', 'HEAD');
  await stage.complete('ann', await stage.begin('ann', { 'ann.txt': 'ann\n' }));
  await stage.expectAligned();
  fetchBranch(stage);
  expect(await works.take(TEAM, { rewrite: false })).not.toHaveProperty('ahead');
  plainGit(repository, 'checkout', '-q', own);
  commit(repository, { 'mine.txt': 'mine\n' });
  expect(await works.take(TEAM, { rewrite: false })).toMatchObject({ ahead: { commits: 1, isOnTop: false } });
  await expect(works.take(TEAM, { what: 'HEAD', rewrite: false })).rejects.toMatchObject({
    message: expect.stringContaining(`merge first: troupe merge --team ${TEAM}. Then take it: troupe work take HEAD`),
  });
  plainGit(repository, 'merge', '-q', '--no-edit', BRANCH);
  const ahead = { commits: 2, isOnTop: true };
  const taken = await works.take(TEAM, { rewrite: false });
  expect(taken).toMatchObject({ isMoved: false, ahead });
  expect(await works.lookAhead(TEAM)).toEqual(ahead);
  expect(
    views['work.take']?.(taken, { columns: 100, color: false, isTerminal: false } as never, { teamId: TEAM }),
  ).toContain(
    `HEAD of your checkout has 2 commits that it lacks. To take them: troupe work take HEAD --team ${TEAM}\n`,
  );
  expect(await works.take(TEAM, { what: 'HEAD', rewrite: false })).toMatchObject({ isMoved: true, commits: 2 });
});

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
  let isHandedInAgain = false;
  // A landing that is accepted before that would be on record, and lost with the depot.
  const judge = async (): Promise<void> => {
    if (isHandedInAgain) return;
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
  removed.resolve();
  for (const outcome of await done) {
    const { message } = (outcome as PromiseRejectedResult).reason as Error;
    expect(message).toContain('The files are still in the folder: complete the task again.');
  }
  expect(await queue()).toEqual([]);
  isHandedInAgain = true;
  await Promise.all([stage.complete('ann', ids[0]), stage.complete('bob', ids[1])]);
  await stage.expectAligned();
  expect([await stage.show('ann.txt'), await stage.show('bob.txt')]).toEqual(['ann', 'bob']);
});
