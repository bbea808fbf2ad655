import { expect, test } from 'vitest';
import { parse } from '../../src/core/parse.ts';
import { publicAddress, RemoteName, TeamRemote } from '../../src/core/team-remote.ts';
import { ApprovePaths, settingsIn, withSettings } from '../../src/core/team-work.ts';
import { commit, WORK } from '../samples/work.ts';

test('an address that other machines may read has no password, and runs no program', () => {
  const told = {
    'https://example.com/a/b.git': 'https://example.com/a/b.git',
    'https://ada:token@example.com/a.git': 'https://example.com/a.git',
    'http://token@127.0.0.1:8080/a.git': 'http://127.0.0.1:8080/a.git',
    'ssh://git:secret@example.com:22/a.git': 'ssh://git@example.com:22/a.git',
    'git@example.com:ada/a.git': 'git@example.com:ada/a.git',
    'example.com:a.git': 'example.com:a.git',
    '/srv/git/a b.git': '/srv/git/a b.git',
    'file:///srv/a.git': 'file:///srv/a.git',
    'ssh://example.com/a.git': 'ssh://example.com/a.git',
    'SSH://git@example.com/a.git': 'SSH://git@example.com/a.git',
  };
  for (const [url, expected] of Object.entries(told)) expect(publicAddress(url), url).toBe(expected);
  const kept = [
    'https://example.com/a.git?private_token=secret',
    'https://example.com/a.git#x',
    'ext::sh -c touch% /tmp/x',
    'ssh://-oProxyCommand=touch/x',
    '-oProxyCommand=touch:x',
    'host:-oProxyCommand',
    '../relative.git',
    '--upload-pack=touch x',
    'https://example.com/a\n.git',
    '',
  ];
  for (const url of kept) {
    expect(publicAddress(url), url).toBeUndefined();
    expect(TeamRemote.safeParse({ name: 'origin', url }).success, url).toBe(false);
  }
  expect(TeamRemote.safeParse({ name: 'origin', url: 'https://ada:token@example.com/a.git' }).success).toBe(false);
});

test('a name of a remote is no option, no address and no path', () => {
  for (const name of ['origin', 'my.fork', 'team/one', 'a']) {
    expect(RemoteName.safeParse(name).success, name).toBe(true);
  }
  for (const name of ['--upload-pack=x', '', '../x', '/srv/x', 'a b', 'https://x/y', 'a..b', 'x\n', 'a:b', '.']) {
    expect(RemoteName.safeParse(name).success, name).toBe(false);
  }
});

test('a remote may have an address that other machines can use, and no other', () => {
  const good = { name: 'origin', url: 'https://example.com/a.git' };
  expect(parse(TeamRemote, good)).toEqual(good);
  expect(() => parse(TeamRemote, { name: 'origin', url: 'https://a:b@example.com/a.git' })).toThrow(
    'url: "https://a:b@example.com/a.git" is not an address that other machines can use',
  );
  expect(publicAddress('ssh://-x@example.com/a.git')).toBeUndefined();
});

test('patterns of files that a person approves are relative and well formed', () => {
  expect(parse(ApprovePaths, ['src/**'])).toEqual(['src/**']);
  expect(() => parse(ApprovePaths, ['/etc/**'])).toThrow(/^0: "\/etc\/\*\*" /);
});

test('the settings of work are what may change; its beginning and its branch stay', () => {
  const work = { ...WORK, roots: [commit(1)], history: 'keep' as const, gates: undefined };
  expect(settingsIn(work)).toStrictEqual({ history: 'keep' });
  expect(withSettings(work, { gates: 2 })).toEqual({ ...WORK, roots: [commit(1)], gates: 2 });
  expect(withSettings({ ...WORK, history: 'keep' }, {})).toStrictEqual(WORK);
});
