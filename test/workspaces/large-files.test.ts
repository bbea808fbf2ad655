import { chmodSync, existsSync, readFileSync, readlinkSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Checkout } from '../../src/workspaces/checkout.ts';
import { filtersOf, isInstalled, setFilters } from '../../src/workspaces/depot/filters.ts';
import { GitError } from '../../src/workspaces/git-errors.ts';
import { fetchLargeFiles, pushLargeFiles } from '../../src/workspaces/remote/large-files.ts';
import type { LargeFiles } from '../../src/workspaces/remote/large-files.ts';
import type { ReachRun, Setting } from '../../src/workspaces/remote/settings.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openBare } from './bare.ts';
import { write } from './project.ts';

const oidOf = (sign: string): string => sign.repeat(64);
const placeOf = (oid: string): string => `lfs/objects/${oid.slice(0, 2)}/${oid.slice(2, 4)}/${oid}`;
const pointer = (sign: string, more = ''): string =>
  `version https://git-lfs.github.com/spec/v1\n${more}oid sha256:${oidOf(sign)}\nsize 5000\n`;

/** A commit with pointers, a folder with a git-lfs, and what was asked of git for the remote. */
async function openLarge({
  isInstalled: isThere = true,
  lfsconfig,
}: { isInstalled?: boolean; lfsconfig?: string } = {}) {
  const bare = await openBare();
  const root = temporaryFolder();
  write(root, { 'bin/git-lfs': '#!/bin/sh\n' });
  if (isThere) chmodSync(join(root, 'bin/git-lfs'), 0o755);
  const base = await bare.commit({
    'old.bin': pointer('a'),
    ...(lfsconfig !== undefined && { '.lfsconfig': lfsconfig }),
  });
  const next = await bare.commit(
    {
      'one.bin': pointer('b'),
      'also-one.bin': pointer('b'),
      'two.bin': pointer('c', 'ext-0-foo sha256:0\n'),
      'too-large.txt': `${pointer('d')}${'x'.repeat(1_024)}`,
      'too-small.txt': 'version https://git-lfs.github.com/spec/v1\n',
      'other.txt': `${'x'.repeat(100)}\n`,
    },
    { parents: [base] },
  );
  const asked: {
    words: readonly string[];
    settings?: readonly Setting[] | undefined;
    config?: readonly string[] | undefined;
  }[] = [];
  const told: { answer: () => void } = { answer: () => {} };
  const run: ReachRun = async (words, options) => {
    asked.push({ words, settings: options?.settings, config: options?.config });
    told.answer();
    return { code: 0, out: Buffer.of(), err: '', isCut: false };
  };
  const draft = temporaryFolder();
  const files: LargeFiles = {
    handle: bare.handle,
    draft,
    name: 'origin',
    base,
    path: join(root, 'bin'),
    run,
    settings: [],
  };
  const bring = (...signs: string[]) =>
    write(bare.dir, Object.fromEntries(signs.map((sign) => [placeOf(oidOf(sign)), sign])));
  return { ...bare, base, next, files, asked, draft, bring, told };
}

describe('large files of commits', () => {
  test('that are here go along, those that the other side has or that are nowhere do not', async () => {
    const { base, next, files, asked, draft, dir, bring } = await openLarge();
    const between = { want: [next], have: [base] };
    // None is here: they came as pointers.
    expect(await pushLargeFiles(files, between)).toEqual([]);
    bring('a', 'd');
    expect(await pushLargeFiles(files, between)).toEqual([]);
    expect(asked).toEqual([]);
    bring('b', 'c');
    expect(await pushLargeFiles(files, between)).toEqual([]);
    const [{ words, config } = { words: [], config: [] }, ...others] = asked;
    expect([words.slice(0, 4), words.slice(4).toSorted(), others]).toEqual([
      ['lfs', 'push', '--object-id', 'origin'],
      [oidOf('b'), oidOf('c')],
      [],
    ]);
    expect(config).toEqual(['lfs.locksverify=false']);
    // Git-lfs finds them in the depot.
    expect(readlinkSync(join(draft, 'lfs'))).toBe(join(dir, 'lfs'));
    // Without commits that the other side has, those of the base, too.
    const again = await openLarge();
    again.bring('a', 'b');
    await pushLargeFiles(again.files, { want: [again.next], have: ['1'.repeat(40)] });
    expect(again.asked[0]!.words.slice(4).toSorted()).toEqual([oidOf('a'), oidOf('b')]);
  });

  test('that are many go in several commands', async () => {
    const { handle, commit, files, asked, dir } = await openLarge();
    const oids = Array.from({ length: 201 }, (_, at) => at.toString(16).padStart(64, '0'));
    const text = (oid: string): string => `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 1\n`;
    const many = await commit(Object.fromEntries(oids.map((oid) => [oid, text(oid)])));
    write(dir, Object.fromEntries(oids.map((oid) => [placeOf(oid), 'x'])));
    expect(await pushLargeFiles({ ...files, handle }, { want: [many], have: [] })).toEqual([]);
    expect(asked.map(({ words }) => words.length - 4)).toEqual([200, 1]);
    expect(asked.flatMap(({ words }) => words.slice(4)).toSorted()).toEqual(oids);
  });

  test('are named if git-lfs is not installed', async () => {
    const { base, next, files, asked, bring } = await openLarge({ isInstalled: false });
    const between = { want: [next], have: [base] };
    expect(await fetchLargeFiles(files, between)).toEqual([
      '2 large files (git-lfs) did not come along, because git-lfs is not installed on this machine',
    ]);
    bring('b');
    expect(await fetchLargeFiles(files, between)).toEqual([
      '1 large file (git-lfs) did not come along, because git-lfs is not installed on this machine',
    ]);
    expect(await pushLargeFiles(files, between)).toEqual([
      '1 large file (git-lfs) did not go along, because git-lfs is not installed on this machine',
    ]);
    bring('c');
    expect(await fetchLargeFiles(files, between)).toEqual([]);
    expect(asked).toEqual([]);
  });

  test('are fetched by commit, and named if they did not come', async () => {
    const { base, next, files, asked, bring, told } = await openLarge();
    const between = { want: [next], have: [base] };
    told.answer = () => bring('b');
    expect(await fetchLargeFiles(files, between)).toEqual([
      '1 large file (git-lfs) of origin did not come along: a pointer is in place of each',
    ]);
    expect(asked).toEqual([
      { words: ['lfs', 'fetch', 'origin', next], settings: [], config: ['lfs.locksverify=false'] },
    ]);
    const failing = await openLarge();
    failing.told.answer = () => {
      throw new GitError('storage', 'git lfs failed', {
        complaint: 'batch response: Repository or object not found\n',
      });
    };
    expect(await fetchLargeFiles(failing.files, { want: [failing.next], have: [failing.base] })).toEqual([
      '2 large files (git-lfs) of origin did not come along: a pointer is in place of each (batch response: Repository or object not found)',
    ]);
    const odd = await openLarge();
    odd.told.answer = () => {
      odd.bring('b', 'c');
      throw new Error('odd');
    };
    expect(await fetchLargeFiles(odd.files, { want: [odd.next], have: [odd.base] })).toEqual([]);
  });

  test('are where the project says, unless the user says otherwise; nothing else of its file holds', async () => {
    const lfsconfig =
      '[lfs]\n\turl = https://server/lfs\n\tpushurl = https://server/push\n\tstorage = /bad\n[core]\n\tpager = bad\n';
    const settingsFor = async (settings: readonly Setting[], text?: string) => {
      const { base, next, files, asked, bring } = await openLarge(text === undefined ? {} : { lfsconfig: text });
      bring('b');
      await pushLargeFiles({ ...files, settings }, { want: [next], have: [base] });
      return asked[0]!.settings;
    };
    const [url, pushurl] = [
      ['lfs.url', 'https://server/lfs'],
      ['lfs.pushurl', 'https://server/push'],
    ];
    expect(await settingsFor([['http.proxy', 'x']], lfsconfig)).toEqual([url, pushurl]);
    expect(await settingsFor([['lfs.url', 'https://mine']], lfsconfig)).toEqual([pushurl]);
    expect(await settingsFor([])).toEqual([]);
    expect(await settingsFor([], '[lfs\nbroken')).toEqual([]);
  });
});

describe('the filters of a project', () => {
  const attributes = '*.bin filter=lfs diff=lfs\n*.key text filter=crypt\n';

  test('are those that attribute files of the commit itself name', async () => {
    const { handle, commit } = await openBare();
    const id = await commit({
      '.gitattributes': attributes,
      'a/b/.gitattributes': '*.x filter=deep\nfilter=alone\n*.y -filter nofilter=x\n',
      'a/link/.gitattributes': { mode: '120000', text: '*.z filter=link' },
      'a/my.gitattributes': '*.z filter=other\n',
      'a/.gitattributes.txt': '*.z filter=other\n',
    });
    expect([...(await filtersOf(handle, id))].sort()).toEqual(['alone', 'crypt', 'deep', 'lfs']);
    expect([...(await filtersOf(handle, await commit({ a: 'a' })))]).toEqual([]);
  });

  test('are all unknown but git-lfs, if that is installed; then the depot has the large files of the checkout', async () => {
    const { dir, handle, commit } = await openBare();
    const root = temporaryFolder();
    write(root, {
      'bin/git-lfs': '#!/bin/sh\n',
      [`common/${placeOf(oidOf('a'))}`]: 'a',
      [`common/${placeOf(oidOf('b'))}`]: 'b',
    });
    symlinkSync('/etc/passwd', join(root, 'common/lfs/objects/link'));
    write(dir, { [placeOf(oidOf('b'))]: 'here already' });
    const checkout = { commonDir: join(root, 'common') } as Checkout;
    const [both, without] = [
      await commit({ '.gitattributes': attributes }),
      await commit({ '.gitattributes': '*.key filter=crypt\n' }),
    ];
    const path = `relative:${join(root, 'nothing')}:${join(root, 'bin')}`;
    const set = async (id: string) => [...(await setFilters(handle, checkout, { commit: id, path }))];
    const settings = () => readFileSync(join(dir, 'config'), 'utf8');
    expect(await set(both)).toEqual(['lfs', 'crypt']);
    expect(await isInstalled('git-lfs', path)).toBe(false);
    chmodSync(join(root, 'bin/git-lfs'), 0o755);
    expect(await isInstalled('git-lfs', path)).toBe(true);
    expect(await isInstalled('git-lfs', 'bin')).toBe(false);
    expect(await set(without)).toEqual(['crypt']);
    expect(settings()).not.toContain('lfs');
    expect(await set(both)).toEqual(['crypt']);
    // Nothing is downloaded from an address that a file names.
    expect(settings()).toMatch(
      /\[filter "lfs"\]\s+clean = git-lfs clean -- %f\s+smudge = git-lfs smudge -- %f\s+process = git-lfs filter-process\s+required = true/,
    );
    expect(settings()).toMatch(/\[lfs\]\s+url = file:\/\/\/nowhere\s+skipDownloadErrors = true/);
    expect(statSync(join(dir, placeOf(oidOf('a')))).nlink).toBe(2);
    expect(readFileSync(join(dir, placeOf(oidOf('b'))), 'utf8')).toBe('here already');
    expect(existsSync(join(dir, 'lfs/objects/link'))).toBe(false);
    expect([
      ...(await setFilters(handle, { commonDir: join(root, 'gone') } as Checkout, { commit: both, path })),
    ]).toEqual(['crypt']);
  });
});
