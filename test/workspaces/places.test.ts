import { existsSync, lstatSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findInTheWay } from '../../src/workspaces/in-the-way.ts';
import { inFolder, joinZero, toBytes, toText } from '../../src/workspaces/paths.ts';
import {
  emptyTrash,
  freshName,
  isFolder,
  listTrash,
  openPlaces,
  placeOf,
  putAway,
  removeReports,
} from '../../src/workspaces/places.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { write } from './project.ts';

const ended = async () => {};

describe('the folders of a daemon', () => {
  test('are made for their owner alone, and known again', async () => {
    const root = join(temporaryFolder(), 'state');
    const places = await openPlaces(root, { endLeftovers: ended });
    expect(places).toEqual({
      depots: join(root, 'depots'),
      workspaces: join(root, 'workspaces'),
      indexes: join(root, 'indexes'),
      making: join(root, 'workspaces/.making'),
      trash: join(root, 'trash'),
    });
    for (const folder of Object.values(places)) expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(await openPlaces(root, { endLeftovers: ended })).toEqual(places);
  });

  test('lose what a killed daemon left half done, once its programs have ended, and nothing else', async () => {
    const root = temporaryFolder();
    const stays = [
      'depots/a.git/config',
      'depots/a.git/refs/heads/tmp_branch',
      'depots/a.git/refs/heads/bulk_fsync_x',
      'depots/a.git/no-tree/package.lock',
      'depots/a.git/fast_import_crash_x',
      'depots/a.git/objects/pack/pack-1.pack',
      'indexes/alpha/ada/index',
      'indexes/tmp_team/tmp_ada/state.json',
      'workspaces/alpha/ada/package.lock',
      'trash/1700000000000-alpha.ada-0123456789ab/x.lock',
      'elsewhere/package.lock',
    ];
    const goes = [
      'depots/a.git/config.lock',
      'depots/a.git/refs/heads/main.lock',
      'depots/a.git/fast_import_crash_123',
      'depots/a.git/objects/12/tmp_obj_1',
      'depots/a.git/objects/pack/tmp_pack_1',
      'depots/a.git/objects/pack/.tmp-1-pack',
      'depots/a.git/objects/pack/x.lock',
      'depots/a.git/objects/bulk_fsync_1/x',
      'indexes/alpha/ada/index.lock',
      'indexes/alpha/ada/tmp_1',
      'workspaces/.making/folder-1/x',
    ];
    write(root, Object.fromEntries([...stays, ...goes].map((path) => [path, 'x'])));
    // Not a folder, as somebody may leave one.
    write(root, { 'indexes/file': 'x' });
    symlinkSync(join(root, 'elsewhere'), join(root, 'depots/a.git/refs/link'));
    symlinkSync(join(root, 'elsewhere'), join(root, 'indexes/alpha/ada/link'));
    await openPlaces(root, {
      endLeftovers: async () => write(root, { 'indexes/alpha/ada/late.lock': 'x', ended: 'x' }),
    });
    expect(existsSync(join(root, 'ended'))).toBe(true);
    expect(stays.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect([...goes, 'indexes/alpha/ada/late.lock'].filter((path) => existsSync(join(root, path)))).toEqual([]);
    expect(readdirSync(join(root, 'workspaces/.making'))).toEqual([]);
    await removeReports(join(root, 'nothing'));
  });

  test('are named by a team and a member, or by a name of our own', () => {
    expect(placeOf('/w', { team: 'alpha', member: 'ada' })).toBe('/w/alpha/ada');
    expect(placeOf('/w', { team: 'alpha', member: '@landing' })).toBe('/w/alpha/@landing');
    for (const [team, member] of [
      ['..', 'ada'],
      ['alpha', '..'],
      ['alpha', '@../x'],
      ['@alpha', 'ada'],
    ] as const) {
      expect(() => placeOf('/w', { team, member })).toThrow(`"${team}/${member}" cannot name a workspace`);
    }
  });

  test('a link to a folder is none', async () => {
    const root = temporaryFolder();
    write(root, { file: 'x' });
    symlinkSync(root, join(root, 'link'));
    expect(await Promise.all(['', 'file', 'link', 'nothing'].map((name) => isFolder(join(root, name))))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('the trash', () => {
  test('lists what was put there, oldest first, and gives back the room of what is old', async () => {
    const root = temporaryFolder();
    const places = await openPlaces(root, { endLeftovers: ended });
    write(root, { 'workspaces/alpha/ada/x': 'x' });
    const before = Date.now();
    const place = await putAway(places, join(root, 'workspaces/alpha/ada'), 'alpha.ada');
    expect(place).toMatch(/\/trash\/\d{13}-alpha\.ada-[0-9a-f]{12}$/);
    expect(readdirSync(place!)).toEqual(['x']);
    expect(existsSync(join(root, 'workspaces/alpha/ada'))).toBe(false);
    expect(await putAway(places, join(root, 'workspaces/alpha/ada'), 'alpha.ada')).toBeUndefined();
    // Where no name can be.
    write(root, { file: 'x' });
    await expect(putAway(places, join(root, 'file/x'), 'x')).rejects.toMatchObject({ code: 'ENOTDIR' });
    const old = [2, 4, 1, 3].map((at) => `170000000000${at}-a-b.${at}-0123456789ab`);
    const others = ['2026-01-31T12-00-00.000Z-team-of-0123456789ab', '1700000000001-x'];
    for (const name of [...old, ...others]) mkdirSync(join(places.trash, name));
    const listed = await listTrash(places);
    expect(listed.map(({ what }) => what)).toEqual(['a-b.1', 'a-b.2', 'a-b.3', 'a-b.4', 'alpha.ada']);
    expect(listed[0]).toEqual({ path: join(places.trash, old[2]!), what: 'a-b.1', at: 1_700_000_000_001 });
    expect(listed[4]!.at).toBeGreaterThanOrEqual(before);
    const gone = await emptyTrash(places, 1_700_000_000_002);
    expect(gone.map(({ what }) => what)).toEqual(['a-b.1']);
    expect((await listTrash(places)).map(({ what }) => what)).toEqual(['a-b.2', 'a-b.3', 'a-b.4', 'alpha.ada']);
    for (const name of others) expect(existsSync(join(places.trash, name))).toBe(true);
    expect(freshName('/x')).toMatch(/^\/x\/[0-9a-f]{12}$/);
    expect(freshName('/x', 'y-')).toMatch(/^\/x\/y-[0-9a-f]{12}$/);
  });
});

describe('a path as text', () => {
  test.for([
    ['plain/é\n', 'plain/é\n'],
    ['has "quotes"', 'has "quotes"'],
    ['"quoted"', '"\\"quoted\\""'],
    ['"tab\t and ~ and \x7f \\', '"\\"tab\\011 and ~ and \\177 \\\\"'],
    // The sign itself, which stands for bytes that are no text.
    ['sign\uFFFD', 'sign\uFFFD'],
  ] as const)('%j is %j, and back', ([path, text]) => {
    expect(toText(Buffer.from(path))).toBe(text);
    expect(toBytes(text).toString()).toBe(path);
  });

  test('that is no UTF-8 is quoted as git does it, and back', () => {
    const bytes = Buffer.from([0x63, 0xe9, 0x01, 0x5c, 0x22, 0x20]);
    expect(toText(bytes)).toBe('"c\\351\\001\\\\\\" "');
    expect(toBytes('"c\\351\\001\\\\\\" "').equals(bytes)).toBe(true);
    expect(toBytes('"a\\tb\\nc\\\\d\\q\u00e9"').toString()).toBe('a\tb\nc\\dqé');
    for (const plain of ['"', '', 'x"', '"x']) expect(toBytes(plain).toString()).toBe(plain);
    expect(toBytes('""').toString()).toBe('');
  });

  test('in a folder, and in a list, is bytes', () => {
    expect(inFolder('/a', Buffer.from([0xe9])).toString('latin1')).toBe('/a/\xe9');
    expect(joinZero(['a', Buffer.from([0xe9])]).toString('latin1')).toBe('a\0\xe9\0');
  });
});

describe('what is in the way of new files', () => {
  test('is each file or link where one is added or a folder is needed, unless it goes', async () => {
    const folder = temporaryFolder();
    write(folder, {
      'file.txt': 'x',
      'taken/inside/deep.txt': 'x',
      blocks: 'x',
      goes: 'x',
      'room/a.txt': 'x',
      'kept/a.txt': 'x',
    });
    symlinkSync('nowhere', join(folder, 'link'));
    symlinkSync('taken', join(folder, 'aside'));
    const find = async (changes: Record<string, 'added' | 'deleted' | 'modified'>) =>
      (
        await findInTheWay(
          folder,
          Object.entries(changes).map(([path, status]) => ({ path: Buffer.from(path), status })),
        )
      ).map(String);
    expect(await find({ 'new.txt': 'added', 'taken/new.txt': 'added', 'new/deep/x': 'added' })).toEqual([]);
    expect(await find({ 'file.txt': 'modified', blocks: 'deleted' })).toEqual([]);
    expect(await find({ 'file.txt': 'added', 'taken/inside/deep.txt': 'added' })).toEqual([
      'file.txt',
      'taken/inside/deep.txt',
    ]);
    // Named once, however much would be below.
    expect(
      await find({
        'blocks/a': 'added',
        'blocks/b/c': 'added',
        link: 'added',
        'aside/x': 'added',
        'aside/inside': 'added',
      }),
    ).toEqual(['blocks', 'link', 'aside']);
    expect(await find({ goes: 'deleted', 'goes/a': 'added' })).toEqual([]);
    // A folder whose files go makes room; one with other files does not.
    expect(await find({ 'file.txt': 'deleted', 'room/a.txt': 'deleted', room: 'added' })).toEqual([]);
    expect(await find({ 'file.txt': 'deleted', kept: 'added' })).toEqual(['kept']);
    expect(lstatSync(join(folder, 'link')).isSymbolicLink()).toBe(true);
  });
});
