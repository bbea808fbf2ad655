import { describe, expect, test } from 'vitest';
import { compare, readRaw, toChange } from '../../src/workspaces/depot/compare.ts';
import { findMarkers, readDiff, readPatch } from '../../src/workspaces/depot/diff.ts';
import { readSections } from '../../src/workspaces/depot/patch.ts';
import { openBare } from './bare.ts';

const lines = (count: number, change: (line: number) => string = (line) => `line ${line}`): string =>
  Array.from({ length: count }, (_, at) => `${change(at + 1)}\n`).join('');

describe('a difference', () => {
  test('names every path once, with what became of it', async () => {
    const { handle, commit } = await openBare();
    const base = await commit({
      'a.txt': 'a\n',
      'b.txt': 'b\n',
      'c.txt': 'c\n',
      'old name.txt': lines(20),
      tool: 'tool\n',
    });
    const next = await commit(
      {
        'a.txt': 'A\n',
        'b.txt': undefined,
        'c.txt': { mode: '120000', text: 'a.txt' },
        'old name.txt': undefined,
        'new name.txt': lines(20),
        'd/new.txt': 'new\n',
        tool: { mode: '100755', text: 'tool\n' },
      },
      { parents: [base] },
    );
    const named = async (renames: boolean) =>
      (await compare(handle, [base, next], { renames })).map((change) => toChange(change));
    const same = [
      { path: 'a.txt', status: 'modified' },
      { path: 'b.txt', status: 'deleted' },
      { path: 'c.txt', status: 'type-changed' },
      { path: 'd/new.txt', status: 'added' },
    ];
    expect(await named(true)).toEqual([
      ...same,
      { path: 'new name.txt', status: 'renamed', from: 'old name.txt' },
      { path: 'tool', status: 'modified' },
    ]);
    expect(await named(false)).toEqual([
      ...same,
      { path: 'new name.txt', status: 'added' },
      { path: 'old name.txt', status: 'deleted' },
      { path: 'tool', status: 'modified' },
    ]);
    expect((await compare(handle, [base, next])).map(toChange)).toEqual(await named(false));
    expect(await compare(handle, [next, next])).toEqual([]);
    expect((await compare(handle, [base, next])).at(-1)).toMatchObject({ oldMode: '100644', newMode: '100755' });

    const diff = await readDiff(handle, [base, next]);
    expect(
      diff.files.map(({ path, from, added, deleted, hunks, oldMode, newMode }) => ({
        path,
        from,
        added,
        deleted,
        hunks: hunks.length,
        oldMode,
        newMode,
      })),
    ).toEqual([
      { path: 'a.txt', added: 1, deleted: 1, hunks: 1, oldMode: '100644', newMode: '100644' },
      { path: 'b.txt', added: 0, deleted: 1, hunks: 1, oldMode: '100644', newMode: '000000' },
      { path: 'c.txt', added: 1, deleted: 1, hunks: 2, oldMode: '100644', newMode: '120000' },
      { path: 'd/new.txt', added: 1, deleted: 0, hunks: 1, oldMode: '000000', newMode: '100644' },
      {
        path: 'new name.txt',
        from: 'old name.txt',
        added: 0,
        deleted: 0,
        hunks: 0,
        oldMode: '100644',
        newMode: '100644',
      },
      { path: 'tool', added: 0, deleted: 0, hunks: 0, oldMode: '100644', newMode: '100755' },
    ]);
    expect(diff).toMatchObject({ added: 3, deleted: 3, isCut: false });
    expect(diff.files.every((file) => !('folded' in file))).toBe(true);
    const some = await readDiff(handle, [base, next], { paths: ['a.txt', 'd'] });
    expect(some.files.map(({ path }) => path)).toEqual(['a.txt', 'd/new.txt']);
    expect(await readDiff(handle, [base, next], { paths: [] })).toEqual({
      files: [],
      added: 0,
      deleted: 0,
      text: '',
      isCut: false,
    });
    const listed = await readDiff(handle, [base, next], { maxBytes: 0 });
    expect(listed).toMatchObject({ text: '', isCut: true, added: 3, deleted: 3 });
    expect(listed.files[0]).toEqual({
      path: 'a.txt',
      status: 'modified',
      added: 1,
      deleted: 1,
      oldMode: '100644',
      newMode: '100644',
      folded: 'bound',
      hunks: [],
    });
    await expect(readPatch(handle, [base, next], { maxBytes: 20 })).rejects.toMatchObject({ code: 'limit' });
    expect((await readPatch(handle, [base, next])).toString()).toContain('rename from old name.txt');
  });

  test('has as many lines around each change as are asked for, and three otherwise', async () => {
    const { handle, commit } = await openBare();
    const base = await commit({ 'a.txt': `${lines(20)}\n${lines(9)}` });
    const next = await commit(
      {
        'a.txt': `${lines(20, (at) => (at === 2 ? 'two' : `line ${at}`))}\n${lines(9, (at) => (at === 9 ? 'nine' : `line ${at}`))}`,
      },
      { parents: [base] },
    );
    const [file] = (await readDiff(handle, [base, next])).files;
    expect(
      file!.hunks.map(({ oldStart, oldLines, newStart, newLines, heading }) => [
        oldStart,
        oldLines,
        newStart,
        newLines,
        heading,
      ]),
    ).toEqual([
      [1, 5, 1, 5, ''],
      [27, 4, 27, 4, 'line 5'],
    ]);
    expect(file!.hunks[0]!.lines).toEqual([' line 1', '-line 2', '+two', ' line 3', ' line 4', ' line 5']);
    const { files, text } = await readDiff(handle, [base, next], { context: 0 });
    expect(files[0]!.hunks.map(({ lines: shown }) => shown)).toEqual([
      ['-line 2', '+two'],
      ['-line 9', '+nine'],
    ]);
    expect(files[0]!.hunks.map(({ oldStart, oldLines, newLines }) => [oldStart, oldLines, newLines])).toEqual([
      [2, 1, 1],
      [30, 1, 1],
    ]);
    expect(text).toMatch(/^diff --git a\/a\.txt b\/a\.txt\n.*\+nine\n$/s);
  });

  test('folds what is binary, too large on either side, or beyond the bound, and says which', async () => {
    const { handle, commit } = await openBare();
    const binary = Buffer.from([0, 1, 2, 3]);
    const base = await commit({ 'gone.bin': binary, 'shrinks.txt': lines(100), 'small.txt': 'a\n', 'was.bin': binary });
    const next = await commit(
      {
        'gone.bin': undefined,
        'grows.txt': lines(100),
        'new.bin': Buffer.from([0, 9, 8]),
        'shrinks.txt': 'b\n',
        'small.txt': 'b\n',
        'was.bin': 'text\n',
        'was.txt': { mode: '120000', text: 'small.txt' },
      },
      { parents: [base] },
    );
    const folded = async (options: Parameters<typeof readDiff>[2]) =>
      Object.fromEntries(
        (await readDiff(handle, [base, next], options)).files.map(({ path, folded: why }) => [path, why]),
      );
    const both = { 'gone.bin': 'binary', 'new.bin': 'binary', 'was.bin': 'binary', 'was.txt': undefined };
    expect(await folded({})).toEqual({
      ...both,
      'grows.txt': undefined,
      'shrinks.txt': undefined,
      'small.txt': undefined,
    });
    expect(await folded({ maxFileBytes: 500 })).toEqual({
      ...both,
      'grows.txt': 'large',
      'shrinks.txt': 'large',
      'small.txt': undefined,
    });
    // As large as it may be.
    const size = Buffer.byteLength(lines(100));
    expect(await folded({ maxFileBytes: size })).toMatchObject({ 'new.bin': 'binary' });
    // Three bytes are as many as there may be, and four are not.
    expect(await folded({ maxFileBytes: 3 })).toMatchObject({ 'new.bin': 'binary', 'gone.bin': 'large' });
    const shown = (await readDiff(handle, [base, next])).files.find(({ path }) => path === 'new.bin');
    expect(shown).toMatchObject({ hunks: [] });
    expect(shown).not.toHaveProperty('added');
    // A person may still want to see it.
    const text = await readDiff(handle, [base, next], { asText: true });
    expect(text.files.find(({ path }) => path === 'new.bin')?.hunks).toHaveLength(1);
    // Every file is listed and counted, whatever part of the text fits.
    const whole = await readDiff(handle, [base, next], {});
    for (let maxBytes = 1; maxBytes < whole.text.length; maxBytes += 97) {
      const cut = await readDiff(handle, [base, next], { maxBytes });
      expect(cut).toMatchObject({ isCut: true, added: whole.added, deleted: whole.deleted });
      expect(whole.text.startsWith(cut.text) && (cut.text === '' || cut.text.endsWith('\n'))).toBe(true);
      for (const [at, file] of cut.files.entries()) {
        const of = whole.files[at]!;
        expect(file.added).toBe(of.added);
        if (file.folded === undefined) expect(file).toEqual(of);
        else expect(file.folded).toBe(of.folded ?? 'bound');
      }
    }
  });

  test('is read from a patch up to where it is cut off', () => {
    const first = 'diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@ f()\n a\n-b\n';
    const second =
      'diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1,2 @@\n-c\n\\ No newline at end of file\n+d\n+diff --git a b\n';
    const patch = Buffer.from(first + second);
    const whole = readSections(patch);
    expect(whole).toEqual([
      {
        isWhole: true,
        hunks: [{ oldStart: 1, oldLines: 2, newStart: 1, newLines: 1, heading: 'f()', lines: [' a', '-b'] }],
      },
      {
        isWhole: true,
        hunks: [
          {
            oldStart: 1,
            oldLines: 1,
            newStart: 1,
            newLines: 2,
            heading: '',
            lines: ['-c', '\\ No newline at end of file', '+d', '+diff --git a b'],
          },
        ],
      },
    ]);
    expect(readSections(patch.subarray(0, first.length))).toEqual([whole[0]]);
    for (let end = 0; end < patch.length; end++) {
      const sections = readSections(patch.subarray(0, end));
      const [one, two] = sections;
      if (end > 'diff --git a/x b/x\n'.length && end < first.length) {
        // Between two lines of the head, nothing shows that more would follow.
        if (patch[end - 1] !== 10 || end > first.indexOf('@@')) {
          expect(one, `${end}`).toEqual({ isWhole: false, hunks: [] });
        }
      }
      if (end > first.length) {
        expect(one!.hunks).toEqual(whole[0]!.hunks);
        if (end > patch.indexOf('@@ -1 +1,2')) expect(two, `${end}`).toMatchObject({ isWhole: false, hunks: [] });
      }
    }
    // Old lines may come after new ones.
    const late = readSections(Buffer.from('diff --git a/x b/x\n@@ -1,3 +1,3 @@\n a\n+n\n b\n-c\n'));
    expect(late[0]!.hunks[0]!.lines).toEqual([' a', '+n', ' b', '-c']);
    expect(readSections(Buffer.from('@@ -1 +1 @@\n-a\n+b\n'))).toEqual([]);
    expect(readSections(Buffer.from(`${first}@@ -5,0 +6 @@\n+z\n\\ No newline at end of file\n`))[0]!.hunks[1]).toEqual(
      {
        oldStart: 5,
        oldLines: 0,
        newStart: 6,
        newLines: 1,
        heading: '',
        lines: ['+z', '\\ No newline at end of file'],
      },
    );
  });

  test('ends where something else follows, and an unknown letter is a change', () => {
    const parts = [`:100644 100644 ${'1'.repeat(40)} ${'2'.repeat(40)} X`, 'odd', '1\t0\todd'].map((part) =>
      Buffer.from(part),
    );
    expect(readRaw(parts)).toEqual([
      {
        path: Buffer.from('odd'),
        status: 'modified',
        oldMode: '100644',
        newMode: '100644',
        oldId: '1'.repeat(40),
        newId: '2'.repeat(40),
      },
    ]);
    expect(readRaw([])).toEqual([]);
  });
});

describe('markers that are left of a conflict', () => {
  test('are each half, a labelled one, and a line of signs only beside another half', async () => {
    const { handle, commit } = await openBare();
    const base = await commit({ 'had.md': 'x\n<<<<<<< ours\n', 'long.txt': lines(50), keep: 'k\n' });
    const next = await commit(
      {
        'had.md': 'y\n<<<<<<< ours\n',
        'long.txt': lines(50, (at) => (at === 7 ? 'seven' : at === 41 ? '>>>>>>> theirs' : `line ${at}`)),
        'base.md': 'a\n||||||| 1234567\n',
        'bare.md': 'a\n<<<<<<<\n',
        'both.md': '=======\nb\n>>>>>>>\n',
        'eight.md': '<<<<<<<<\n========\n',
        'heading.md': 'Title\n=======\n\nOther\n=======\n',
        'half.md': '<<<<<<<\nx\n<<<<<<< ours\n',
        'indented.md': ' <<<<<<< ours\nx ======= y\n',
        'returns.md': 'a\r\n=======\r\n',
        'text.md': '=======x\n<<<<<<<x\n',
      },
      { parents: [base] },
    );
    expect(await findMarkers(handle, [base, next])).toEqual([
      { path: 'base.md', line: 2, isUnderline: false },
      { path: 'both.md', line: 1, isUnderline: false },
      { path: 'half.md', line: 1, isUnderline: false },
      { path: 'heading.md', line: 2, isUnderline: true },
      { path: 'long.txt', line: 41, isUnderline: false },
      { path: 'returns.md', line: 2, isUnderline: true },
    ]);
    expect(await findMarkers(handle, [next, next])).toEqual([]);
  });
});
