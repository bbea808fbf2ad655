import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { readSections } from '../../src/workspaces/depot/patch.ts';
import { commitAll, newProject, openStage, plainGit, write } from './project.ts';
import type { Stage } from './project.ts';

const AUTHOR = { name: 'Ada <x>', email: 'ada@example.com' };
const AT = Date.UTC(2026, 10, 17, 8);

let stage: Stage;
beforeAll(async () => {
  const root = newProject({ lasting: true });
  stage = await openStage({ root });
  return () => rmSync(root, { recursive: true, force: true });
});

/** What a member made of the base, as a save. */
async function work(member: string, files: Record<string, string>, base = stage.checkout.head) {
  const workspace = await stage.workspaces.open({ team: 'alpha', member }, { base });
  write(workspace.folder, files);
  return { workspace, saved: (await workspace.save())! };
}

describe('a merge in memory', () => {
  test('of works in order makes the branch of the team, one commit each', async () => {
    const { depot, checkout } = stage;
    const lines = readFileSync(join(checkout.folder, 'src/a.ts'), 'utf8');
    const works = [
      await work('one', { 'src/a.ts': lines.replace('one', 'ONE'), 'one.ts': '1\n' }),
      await work('two', { 'src/a.ts': lines.replace('seven', 'SEVEN') }),
      await work('three', {}),
    ];
    let tip = checkout.head;
    for (const [i, { saved }] of works.entries()) {
      const commit = {
        message: `Task ${i}\n\nBody`,
        trailers: [
          ['Task-Id', `${i}`],
          ['Co-authored-by', 'one\n(claude)'],
        ] as const,
        author: AUTHOR,
        at: AT,
      };
      const landed = await depot.land({ tip, work: saved.commit }, commit);
      expect(landed).toHaveProperty('landed');
      if (!('landed' in landed)) return;
      await depot.moveBranch('troupe/alpha', landed.landed, i === 0 ? undefined : tip);
      tip = landed.landed;
    }
    expect(await depot.branch('troupe/alpha')).toBe(tip);
    expect(plainGit(depot.dir, 'log', '--format=%s', `${checkout.head}..${tip}`)).toBe('Task 1\nTask 0');
    expect(plainGit(depot.dir, 'show', `${tip}:src/a.ts`)).toContain('ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN');
    expect(plainGit(depot.dir, 'log', '-1', '--format=%an|%ae|%B', tip)).toBe(
      'Ada x|ada@example.com|Task 1\n\nBody\n\nTask-Id: 1\nCo-authored-by: one (claude)',
    );
    await expect(depot.moveBranch('troupe/alpha', tip, checkout.head)).rejects.toMatchObject({ code: 'conflict' });
    await expect(depot.moveBranch('troupe/alpha', tip, undefined)).rejects.toMatchObject({ code: 'conflict' });
    await expect(depot.moveBranch('-x..y', tip, undefined)).rejects.toMatchObject({ code: 'invalid' });
    // The user's own git takes it from there.
    plainGit(checkout.folder, 'fetch', '-q', depot.dir, 'troupe/alpha');
    expect(plainGit(checkout.folder, 'rev-parse', 'FETCH_HEAD')).toBe(tip);
  });

  test('names what conflicts, and lays it into a folder with the base between the markers', async () => {
    const { depot, checkout } = stage;
    const mine = await work('mine', { 'src/a.ts': 'one\nMINE\nthree\n', 'src/b.ts': 'mine\n', 'free.ts': 'free\n' });
    const theirs = await work('theirs', { 'src/a.ts': 'one\nTHEIRS\nthree\n' });
    rmSync(join(theirs.workspace.folder, 'src/b.ts'));
    const other = (await theirs.workspace.save())!;
    const landing = { message: 'Theirs', author: AUTHOR, at: AT };
    const landed = await depot.land({ tip: checkout.head, work: other.commit }, landing);
    const tip = 'landed' in landed ? landed.landed : '';
    const { conflicts, tree } = await depot.merge(tip, mine.saved.commit);
    expect(conflicts.map(({ path, kinds, stages }) => ({ path, kinds, sides: Object.keys(stages) }))).toEqual([
      { path: 'src/a.ts', kinds: ['contents'], sides: ['base', 'ours', 'theirs'] },
      { path: 'src/b.ts', kinds: ['modify/delete'], sides: ['base', 'theirs'] },
    ]);
    await mine.workspace.lay(tree, tip);
    const laid = readFileSync(join(mine.workspace.folder, 'src/a.ts'), 'utf8');
    expect(laid).toMatch(/<<<<<<<.*MINE|<<<<<<<.*THEIRS/s);
    expect(laid).toContain('|||||||');
    expect(mine.workspace.base).toBe(tip);
    const saved = (await mine.workspace.save())!;
    expect(await mine.workspace.review(saved)).toEqual([
      { kind: 'markers', path: 'src/a.ts', line: expect.any(Number) },
    ]);
    // What is left of a conflict is one, but no heading of a file that the conflict was not laid into.
    write(mine.workspace.folder, { 'src/a.ts': 'one\n=======\nBOTH\nthree\n', 'free.ts': 'free\n=======\n' });
    const half = (await mine.workspace.save())!;
    expect(await mine.workspace.review(half)).toEqual([{ kind: 'markers', path: 'src/a.ts', line: 2 }]);
    write(mine.workspace.folder, { 'src/a.ts': 'one\nBOTH\nthree\n', 'free.ts': 'free\n' });
    const again = await depot.land({ tip, work: (await mine.workspace.save())!.commit }, landing);
    expect(again).toHaveProperty('landed');
  });

  test('of something that is not there is no conflict', async () => {
    const { depot, checkout } = stage;
    await expect(depot.merge(checkout.head, '1'.repeat(40))).rejects.toMatchObject({ code: 'not_found' });
    await expect(depot.merge(checkout.head, 'HEAD')).rejects.toMatchObject({ code: 'invalid' });
    await expect(depot.diff(checkout.head, '--output=x')).rejects.toMatchObject({ code: 'invalid' });
  });
});

describe('a difference', () => {
  test('has files, hunks and counts, and folds what is binary or large', async () => {
    const { depot, checkout } = stage;
    const { workspace } = await work('differ', {
      'src/a.ts': 'one\ntwo\nTHREE\nfour\nfive\nsix\nseven\neight',
      'big.txt': 'line\n'.repeat(200_000),
      '"q".txt': '-- minus\n++ plus\ndiff --git a b\n',
    });
    writeFileSync(join(workspace.folder, 'binary'), Buffer.from([0, 1, 2, 255]));
    rmSync(join(workspace.folder, 'README.md'));
    symlinkSync('src', join(workspace.folder, 'README.md'));
    rmSync(join(workspace.folder, 'docs'), { recursive: true });
    write(workspace.folder, { 'manual/guide.md': 'Read this.\n' });
    const saved = (await workspace.save())!;
    const diff = await depot.diff(checkout.head, saved.commit);
    expect(diff.isCut).toBe(false);
    expect(
      diff.files.map(({ path, status, added, deleted, folded }) => [path, status, added, deleted, folded]),
    ).toEqual([
      ['"\\"q\\".txt"', 'added', 3, 0, undefined],
      ['README.md', 'type-changed', 1, 1, undefined],
      ['big.txt', 'added', undefined, undefined, 'large'],
      ['binary', 'added', undefined, undefined, 'binary'],
      ['manual/guide.md', 'renamed', 0, 0, undefined],
      ['src/a.ts', 'modified', 2, 1, undefined],
    ]);
    expect(diff.files[0]?.hunks[0]?.lines).toEqual(['+-- minus', '+++ plus', '+diff --git a b']);
    expect(diff.files[1]?.hunks).toHaveLength(2);
    expect(diff.files[4]).toMatchObject({ from: 'docs/guide.md', hunks: [] });
    expect(diff.files[5]?.hunks[0]).toEqual({
      oldStart: 1,
      oldLines: 7,
      newStart: 1,
      newLines: 8,
      heading: '',
      lines: [
        ' one',
        ' two',
        '-three',
        '+THREE',
        ' four',
        ' five',
        ' six',
        ' seven',
        '+eight',
        '\\ No newline at end of file',
      ],
    });
    expect(diff).toMatchObject({ added: 6, deleted: 2 });

    const cut = await depot.diff(checkout.head, saved.commit, { maxBytes: 400 });
    expect(cut.isCut).toBe(true);
    expect(cut.files).toHaveLength(6);
    expect(cut.files.at(-1)).toMatchObject({ folded: 'bound', added: 2, hunks: [] });
    expect(cut.text.endsWith('\n')).toBe(true);
    const one = await depot.diff(checkout.head, saved.commit, { paths: ['src/a.ts'] });
    expect(one.files.map(({ path }) => path)).toEqual(['src/a.ts']);

    // The patch gives the same tree elsewhere.
    const patch = await depot.patch(checkout.head, saved.commit);
    writeFileSync(join(stage.root, 'x.patch'), patch);
    const copy = join(stage.root, 'copy');
    plainGit(stage.root, 'clone', '-q', checkout.folder, copy);
    plainGit(copy, 'apply', '--index', join(stage.root, 'x.patch'));
    expect(plainGit(copy, 'write-tree')).toBe(saved.tree);
    await expect(depot.patch(checkout.head, saved.commit, { maxBytes: 10 })).rejects.toMatchObject({ code: 'limit' });
    commitAll(copy);
  });

  test('that is cut off anywhere is read up to there', () => {
    const patch = Buffer.from(
      'diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@ f()\n a\n-b\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-c\n+d\n',
    );
    for (let end = 0; end <= patch.length; end++) {
      const sections = readSections(patch.subarray(0, end));
      expect(sections.length).toBeLessThanOrEqual(2);
      for (const { hunks } of sections) for (const { lines } of hunks) expect(lines.length).toBe(2);
    }
    expect(readSections(patch)).toMatchObject([{ isWhole: true, hunks: [{ heading: 'f()' }] }, { isWhole: true }]);
  });
});
