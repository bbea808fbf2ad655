import { describe, expect, test } from 'vitest';
import { bubblewrapCommand } from '../../src/agents/sandbox/bubblewrap.ts';
import { inOrder } from '../../src/agents/sandbox/mounts.ts';
import type { Mount } from '../../src/agents/sandbox/mounts.ts';
import { modelHosts } from '../../src/agents/sandbox/open.ts';
import { seatbeltCommand, seatbeltProfile } from '../../src/agents/sandbox/seatbelt.ts';

const MOUNTS: readonly Mount[] = [
  { path: '/home/me/.claude/settings.json', as: 'read' },
  { path: '/home/me', as: 'hidden' },
  { path: '/usr/bin', as: 'read' },
  { path: '/home/me/.claude', as: 'write' },
  { path: '/home/me/data', as: 'read' },
  { path: '/home/me/data/more', as: 'read' },
];

test('a folder comes before what is in it, the later of two settings counts, and what can be read anyway is left out', () => {
  expect(inOrder([...MOUNTS, { path: '/home/me/data', as: 'write' }])).toEqual([
    { path: '/home/me', as: 'hidden' },
    { path: '/home/me/.claude', as: 'write' },
    { path: '/home/me/data', as: 'write' },
    { path: '/home/me/.claude/settings.json', as: 'read' },
    { path: '/home/me/data/more', as: 'read' },
  ]);
  expect(inOrder(MOUNTS).map(({ path }) => path)).not.toContain('/home/me/data/more');
});

test('bubblewrap gets namespaces of its own for everything, and no rights', () => {
  const command = bubblewrapCommand('/usr/bin/bwrap', { mounts: MOUNTS, cwd: '/work' }, ['node', 'x y']);
  const text = command.join(' ');
  for (const part of ['user', 'pid', 'net', 'ipc', 'uts']) expect(text).toContain(`--unshare-${part}`);
  expect(text).toContain('--cap-drop ALL --die-with-parent');
  expect(text).toContain(
    '--tmpfs /home/me --bind /home/me/.claude /home/me/.claude --ro-bind /home/me/data /home/me/data',
  );
  expect(command.slice(-5)).toEqual(['--chdir', '/work', '--', 'node', 'x y']);
});

describe('the profile for macOS', () => {
  const walls = { mounts: MOUNTS, cwd: '/work' };

  test('denies writing, the network and signals, apart from what is open; the last rule that fits counts', () => {
    const profile = seatbeltProfile(walls, { ports: [4001], sockets: ['/state/box/1/daemon.sock'] });
    expect(profile).toBe(`(version 1)
(allow default)
(deny file-write*)
(allow file-write* (subpath "/dev"))
(deny file-read* file-write* (subpath "/home/me"))
(allow file-read* file-write* (subpath "/home/me/.claude"))
(allow file-read* (subpath "/home/me/data"))
(deny file-write* (subpath "/home/me/data"))
(allow file-read* (subpath "/home/me/.claude/settings.json"))
(deny file-write* (subpath "/home/me/.claude/settings.json"))
(allow file-read-metadata)
(deny network*)
(allow network-outbound (remote ip "localhost:4001"))
(allow network-outbound (remote unix-socket (path-literal "/state/box/1/daemon.sock")))
(deny signal (target others))
(deny process-info* (target others))
`);
  });

  test('cannot be changed by the name of a folder', () => {
    const mounts = [{ path: '/a")(allow default)("\\', as: 'hidden' }] as const;
    const profile = seatbeltProfile({ mounts, cwd: '/' }, { ports: [], sockets: [] });
    expect(profile).toContain(String.raw`(subpath "/a\")(allow default)(\"\\")`);
  });

  test('is an argument of sandbox-exec, before the program', () => {
    const doors = { ports: [], sockets: [] };
    expect(seatbeltCommand('/usr/bin/sandbox-exec', { walls, doors }, ['node', 'x'])).toEqual([
      '/usr/bin/sandbox-exec',
      '-p',
      seatbeltProfile(walls, doors),
      'node',
      'x',
    ]);
  });
});

test('the hosts of a model are those of its login, and those that variables name', () => {
  const env = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:8080/v1', OPENAI_BASE_URL: 'https://models.example.com', X: 'y' };
  expect(modelHosts({ hosts: ['api.example.com'] }, env)).toEqual([
    'api.example.com',
    '127.0.0.1:8080',
    'models.example.com:443',
  ]);
  expect(modelHosts(undefined, env)).toEqual([]);
});
