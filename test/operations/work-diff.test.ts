import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { InputOf, ResultOf } from '../../src/operations/index.ts';
import { shareStage } from '../server/stage.ts';
import type { Stage } from '../server/stage.ts';
import { commitAll, makeRepository, plainGit, write } from '../workspaces/project.ts';

const LONG = Array.from({ length: 12_000 }, (_, i) => `const value${i} = ${i};`);

/** A team with workspaces in a repository of its own, in which ada holds task 1. */
async function beginWork(stage: Stage) {
  const { act, home, ledger, teamId } = stage;
  const repository = join(home.directory, `project-of-${teamId}`);
  makeRepository(repository, {
    'long.ts': `${LONG.join('\n')}\n`,
    'gone.txt': 'gone\n',
    'old-name.txt': `${LONG.slice(0, 20).join('\n')}\n`,
    'run.sh': 'echo hi\n',
    'dos.txt': 'a\r\nb\r\n',
  });
  const side = plainGit(repository, 'commit-tree', '-m', 'side', '-p', 'HEAD', 'HEAD^{tree}');
  plainGit(repository, 'branch', 'secret', side);
  const base = plainGit(repository, 'rev-parse', 'HEAD');
  const work = { workspaces: 'own', repository, prefix: '', base, branch: `troupe/${teamId}` } as const;
  await ledger.execute(teamId, { type: 'team.update', by: '@user', work }, () => undefined);
  await act('member.add', { teamId, name: 'ada', agent: { exec: ['true'] } });
  const { id: taskId } = await act('task.create', { teamId, title: 'Change it' });
  const { epoch = 0 } = (await act('task.claim', { teamId, taskId }, 'ada')) ?? {};
  const opened = await act('work.open', { teamId, memberId: 'ada' });
  await act('work.begin', { teamId, memberId: 'ada', taskId, epoch }, 'ada');
  return { taskId, base, side, repository, folder: opened?.folder ?? '' };
}

function edit(folder: string): void {
  write(folder, {
    'long.ts': `${LONG.map((line) => line.replace('const', 'let')).join('\n')}\n`,
    'new.txt': 'no newline at the end',
    'dos.txt': 'a\nb\n',
    'one.txt': `${'x'.repeat(9_000)}\n`,
    'image.bin': Buffer.from([0, 1, 2, 255]),
    'huge.txt': `${'y'.repeat(79)}\n`.repeat(8_000),
  });
  rmSync(join(folder, 'gone.txt'));
  renameSync(join(folder, 'old-name.txt'), join(folder, 'new-name.txt'));
  chmodSync(join(folder, 'run.sh'), 0o755);
}

describe('a difference in parts', () => {
  const shared = shareStage();

  async function readAll(stage: Stage, asked: InputOf<'work.lines'>) {
    const pages: ResultOf<'work.lines'>[] = [];
    for (let after = 0; ;) {
      const page = await stage.act('work.lines', { ...asked, after });
      pages.push(page);
      if (page.next === undefined) return pages;
      after = page.next;
    }
  }

  test('lists files, and has the lines of a long one in bounded answers that fit together', async () => {
    const stage = await shared().aside();
    const { teamId, act } = stage;
    const { folder, base } = await beginWork(stage);
    edit(folder);
    const { changes, from, to, files, next } = await act('work.files', { teamId, of: 'ada' });
    expect([files, next, from]).toEqual([changes.length, undefined, base]);
    const byPath = new Map(changes.map(({ path, ...change }) => [path, change]));
    expect(byPath.get('long.ts')).toMatchObject({ status: 'modified', added: 12_000, removed: 12_000 });
    expect(byPath.get('new-name.txt')).toMatchObject({ status: 'renamed', previous: 'old-name.txt' });
    expect(byPath.get('run.sh')).toMatchObject({ oldMode: '100644', newMode: '100755', added: 0 });
    expect(byPath.get('gone.txt')).toMatchObject({ status: 'deleted' });
    expect(byPath.get('image.bin')).toMatchObject({ folded: 'binary' });
    expect(byPath.get('huge.txt')).toMatchObject({ folded: 'large' });

    const pages = await readAll(stage, { teamId, from, to, path: 'long.ts' });
    expect(pages.length).toBeGreaterThan(5);
    expect(Math.max(...pages.map((page) => JSON.stringify(page).length))).toBeLessThan(512 * 1024);
    const lines = pages.flatMap(({ hunks }) => hunks.flatMap((hunk) => hunk.lines));
    expect(lines).toEqual([
      ...LONG.map((line) => `-${line}`),
      ...LONG.map((line) => `+${line.replace('const', 'let')}`),
    ]);
    // The numbers of a part go on where the last part ended.
    const { hunks: [last] = [] } = pages.at(-1) ?? {};
    expect([last?.isRest, last?.newStart]).toEqual([true, 12_001 - (last?.lines.length ?? 0)]);

    const [renamed] = await readAll(stage, { teamId, from, to, path: 'new-name.txt', previous: 'old-name.txt' });
    expect(renamed?.hunks).toEqual([]);
    const linesOf = async (path: string, whole = false) =>
      (await readAll(stage, { teamId, from, to, path, whole })).flatMap(({ hunks }) =>
        hunks.flatMap((one) => one.lines),
      );
    expect(await linesOf('dos.txt')).toEqual(['-a\r', '-b\r', '+a', '+b']);
    expect(await linesOf('new.txt')).toEqual(['+no newline at the end', '\\ No newline at end of file']);
    const [one] = await readAll(stage, { teamId, from, to, path: 'one.txt' });
    expect(one?.hunks[0]).toMatchObject({ lines: [`+${'x'.repeat(4_095)}`], cut: [{ line: 0, length: 9_000 }] });
    expect([await linesOf('image.bin'), await linesOf('huge.txt')]).toEqual([[], []]);
    expect((await linesOf('image.bin', true))[0]).toBe('+\u0000\u0001\u0002\uFFFD');
    expect(await linesOf('huge.txt', true)).toHaveLength(8_000);
  });

  test('has the save of an earlier moment, and what landed, but nothing else of the repository', async () => {
    const stage = await shared().aside();
    const { teamId, act, url, tokens } = stage;
    const { folder, taskId, base, side, repository } = await beginWork(stage);
    writeFileSync(join(folder, 'new.txt'), 'first\n');
    const first = await act('work.files', { teamId, of: 'ada' });
    const { members } = await act('work.show', { teamId, memberId: 'ada' });
    expect(members).toMatchObject([{ memberId: 'ada', files: 1, behind: 0, taskId }]);
    expect(await act('work.show', { teamId, memberId: 'worker' })).toMatchObject({ members: [], tasks: [] });
    await act('task.complete', { teamId, taskId }, 'ada');
    const landed = await act('work.files', { teamId, of: taskId });
    expect(landed.changes.map(({ path }) => path)).toEqual(['new.txt']);
    const { work } = await act('task.show', { teamId, taskId });
    expect([landed.from, landed.to]).toEqual([work?.onto, work?.merged]);
    const branch = await act('work.files', { teamId, from: base, to: landed.to });
    expect(branch).toMatchObject({ files: 1, added: 1, removed: 0 });
    const saved = await act('work.files', { teamId, of: 'ada', before: Date.now() });
    expect(saved).toMatchObject({ from: first.from, to: first.to, savedAt: expect.any(Number) });
    await expect(act('work.files', { teamId, of: 'ada', before: 1_000 })).rejects.toMatchObject({ code: 'not_found' });

    const other = commitAll(repository, 'later, not of the team');
    for (const to of [side, other, '1'.repeat(40)]) {
      await expect(act('work.files', { teamId, from: base, to })).rejects.toMatchObject({ code: 'not_found' });
      await expect(act('work.lines', { teamId, from: base, to, path: 'a' })).rejects.toMatchObject({
        code: 'not_found',
      });
    }
    const ask = async (token: string, what: string) =>
      (await fetch(`${url}/api/teams/${teamId}/work/${what}`, { headers: { authorization: `Bearer ${token}` } }))
        .status;
    const lines = `lines?from=${base}&to=${landed.to}&path=new.txt`;
    expect([await ask(tokens.reader, 'files'), await ask(tokens.reader, lines)]).toEqual([200, 200]);
    expect([await ask(tokens.stranger, 'files'), await ask(tokens.stranger, lines)]).toEqual([403, 403]);
  });
});
