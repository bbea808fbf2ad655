import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { identify } from '../../src/agents/process.ts';
import { openBridge } from '../../src/bridge/bridge.ts';
import type { Bridge } from '../../src/bridge/bridge.ts';
import { nativePaths } from '../../src/bridge/layout.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { needs } from '../tools.ts';

const CAPTURES = join(import.meta.dirname, '../fixtures/claude-code');

function newBridge(capture: string): { root: string; trash: string; bridge: Bridge } {
  const folder = temporaryFolder();
  const root = join(folder, 'claude');
  const trash = join(folder, 'trash');
  cpSync(join(CAPTURES, capture), root, { recursive: true });
  const bridge = openBridge({
    ledger: new Ledger(memoryJournal()),
    home: folder,
    root,
    trash,
    onError: (error) => expect.unreachable(String(error)),
  });
  onTestFinished(() => bridge.close());
  return { root, trash, bridge };
}

function setLead(root: string, name: string, leadProcess: object): void {
  const { config } = nativePaths(root, name);
  writeFileSync(config, JSON.stringify({ ...(JSON.parse(readFileSync(config, 'utf8')) as object), leadProcess }));
}

describe('a leftover native team', needs(process.platform === 'linux', 'only Linux has /proc'), () => {
  test('is listed with the evidence, and moved to the trash only on request', () => {
    const { root, trash, bridge } = newBridge('2.1.37/12-resume-after-kill9');
    const found = bridge.leftovers(0).find(({ name }) => name === 'rt');
    expect(found).toMatchObject({ dead: true });
    expect(found?.evidence.join('; ')).toMatch(
      /last change .*; no process is one of its members; no Claude Code runs in its folder/,
    );
    expect(existsSync(trash)).toBe(false);
    const files = readdirSync(join(root, 'teams/rt'), { recursive: true });
    const [moved] = bridge.clean(['rt'], 0);
    expect(existsSync(join(root, 'teams/rt'))).toBe(false);
    expect(existsSync(join(root, 'tasks/rt'))).toBe(false);
    expect(readdirSync(join(moved?.folder ?? '', 'teams/rt'), { recursive: true })).toEqual(files);
    expect(() => bridge.clean(['rt'], 0)).toThrow('no native team');
  });

  test('is not one that changed recently', () => {
    const { bridge } = newBridge('2.1.37/12-resume-after-kill9');
    expect(bridge.leftovers().every(({ dead }) => !dead)).toBe(true);
    expect(() => bridge.clean(['rt'])).toThrow(/not a leftover.*less than 60 minutes ago/);
  });

  test('is not one whose lead runs on this machine, or may run on another', () => {
    const { root, bridge } = newBridge('2.1.325/02-interactive-inprocess-tasks');
    const [name = ''] = readdirSync(join(root, 'teams'));
    const evidence = (): string | undefined =>
      bridge
        .leftovers(0)
        .find((one) => one.name === name)
        ?.evidence.join('; ');
    setLead(root, name, { pid: process.pid, pidSpace: 'elsewhere#pid:[1]', procStart: '1' });
    expect(evidence()).toContain('another machine');
    const space = `${hostname()}#${readlink()}`;
    setLead(root, name, { pid: process.pid, pidSpace: space, procStart: identify(process.pid).startTime });
    expect(evidence()).toContain(`its lead runs (process ${process.pid})`);
    // Another process has that pid now.
    setLead(root, name, { pid: process.pid, pidSpace: space, procStart: '1' });
    expect(bridge.leftovers(0).find((one) => one.name === name)).toMatchObject({ dead: true });
  });

  test('is not one with a teammate that still runs', async () => {
    const { root, bridge } = newBridge('2.1.37/12-resume-after-kill9');
    mkdirSync(root, { recursive: true });
    const start = (home: string) => {
      const words = ['-e', 'setInterval(() => {}, 1000)', '--', '--agent-id', 'alice@rt', '--team-name', 'rt'];
      const child = spawn(process.execPath, words, { env: { HOME: home, CLAUDE_CONFIG_DIR: home } });
      onTestFinished(() => void child.kill('SIGKILL'));
      return child;
    };
    const stranger = start(temporaryFolder());
    const orphan = start(root);
    await expect
      .poll(() =>
        bridge
          .leftovers(0)
          .find(({ name }) => name === 'rt')
          ?.evidence.join(),
      )
      .toContain(`process ${orphan.pid} is one of its members`);
    // A team of the same name in another home is unrelated.
    const evidence = bridge
      .leftovers(0)
      .find(({ name }) => name === 'rt')
      ?.evidence.join();
    expect(evidence).not.toContain(`process ${stranger.pid} `);
    expect(() => bridge.clean(['rt'], 0)).toThrow('not a leftover');
    expect(existsSync(join(root, 'teams/rt/config.json'))).toBe(true);
  });

  test('is not kept by a process that only names it, such as a cleanup command', async () => {
    const { root, bridge } = newBridge('2.1.37/12-resume-after-kill9');
    const session = '0e2f2c3e-58b1-4f0e-9d6c-1f7a3a1b9c55';
    for (const name of ['orphan', session]) {
      mkdirSync(join(root, 'tasks', name), { recursive: true });
      writeFileSync(join(root, 'tasks', name, '1.json'), JSON.stringify({ id: '1', subject: 'A', status: 'pending' }));
    }
    const start = (...words: string[]) => {
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', '--', ...words], {
        env: { HOME: root, CLAUDE_CONFIG_DIR: root },
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      return child;
    };
    const evidence = (team: string): string | undefined =>
      bridge
        .leftovers(0)
        .find(({ name }) => name === team)
        ?.evidence.join('; ');
    start('native', 'clean', 'orphan', session);
    start('native', 'clean', '--json', session);
    const resumed = start('--resume', session);
    await expect.poll(() => evidence(session)).toContain(`process ${resumed.pid} is one of its members`);
    expect(evidence(session)?.match(/is one of its members/g)).toHaveLength(1);
    expect(evidence('orphan')).toContain('no process is one of its members');
    expect(bridge.clean(['orphan'], 0)).toHaveLength(1);
  });

  test('is not one that a daemon has joined, until it leaves', async () => {
    const { root, bridge } = newBridge('2.1.37/12-resume-after-kill9');
    const { teamId } = await bridge.join('rt');
    expect(() => bridge.clean(['rt'], 0)).toThrow(/it is joined: the daemon of .* until "troupe native leave"/);
    await bridge.leave(teamId);
    bridge.clean(['rt'], 0);
    expect(existsSync(join(root, 'teams/rt'))).toBe(false);
  });

  test('is not one with a symbolic link: neither it nor others of the same call are moved', () => {
    const { root, trash, bridge } = newBridge('2.1.37/12-resume-after-kill9');
    const elsewhere = temporaryFolder();
    cpSync(join(root, 'teams/rt'), join(root, 'teams/half'), { recursive: true });
    symlinkSync(elsewhere, join(root, 'tasks/half'));
    symlinkSync(elsewhere, join(root, 'teams/whole'));
    expect(() => bridge.clean(['rt', 'half'], 0)).toThrow('its directory of tasks is a symbolic link');
    expect(() => bridge.clean(['whole'], 0)).toThrow('its directory is a symbolic link');
    expect(existsSync(trash)).toBe(false);
    rmSync(join(root, 'tasks/half'));
    expect(bridge.clean(['rt', 'half'], 0)).toHaveLength(2);
  });
});

function readlink(): string {
  return process.getBuiltinModule('node:fs').readlinkSync('/proc/self/ns/pid');
}
