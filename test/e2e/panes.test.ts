import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tmuxTerminal } from '../../src/terminals/tmux.ts';
import { BIN, environmentFor } from '../daemon/serve.ts';
import { openTmux } from '../tmux.ts';
import { until } from '../until.ts';
import { isAlive, shareDaemon } from './stage.ts';
import type { Stage } from './stage.ts';

describe('panes of tmux', () => {
  const newStage = shareDaemon();

  test('open beside the current pane, and close only if id, process and marker still match', async (context) => {
    const { environment, target, tmux, panes } = openTmux(context);
    const terminal = tmuxTerminal({ environment, target });
    const foreign = tmux('split-window', '-d', '-t', target, '-P', '-F', '#{pane_id}', 'sleep', '1007');
    const pane = await terminal.open({ command: ['sleep', '1008'], cwd: tmpdir(), marker: 'ann@crew-1' });
    expect(panes()).toEqual([target, foreign, pane.id]);
    expect(await terminal.close({ ...pane, pid: pane.pid + 1 })).toBe(false);
    expect(await terminal.close({ ...pane, marker: 'bob@crew-1' })).toBe(false);
    expect(await terminal.close({ ...pane, id: foreign })).toBe(false);
    expect(panes()).toEqual([target, foreign, pane.id]);
    expect(await terminal.close(pane)).toBe(true);
    expect(panes()).toEqual([target, foreign]);
    expect(await terminal.close(pane)).toBe(false);
  });

  test('never execute commands in the names and folders that they show', async (context) => {
    const { environment, target, folder, panes } = openTmux(context);
    const terminal = tmuxTerminal({ environment, target });
    const cwd = join(folder, `#(touch ${join(folder, 'canary').replaceAll('/', '_')})`);
    mkdirSync(cwd);
    const pane = await terminal.open({
      command: ['sh', '-c', 'pwd > "$1"; sleep 1009', '#(touch canary)', join(folder, 'where')],
      cwd,
      marker: 'ann@crew-1',
    });
    await until('it runs in its folder', () => {
      try {
        return execFileSync('cat', [join(folder, 'where')], { encoding: 'utf8', stdio: 'pipe' }) === `${cwd}\n`;
      } catch {
        return false;
      }
    });
    expect(execFileSync('ls', [folder], { encoding: 'utf8' })).not.toMatch(/^canary$/m);
    expect(await terminal.close(pane)).toBe(true);
    expect(panes()).toEqual([target]);
  });

  test('have titles, and show them in the borders of a window without foreign panes until the last closes', async (context) => {
    const { environment, target, folder, tmux } = openTmux(context);
    const terminal = tmuxTerminal({ environment, target });
    const border = (): string => tmux('show-options', '-w', '-t', target);
    const open = (title: string) => terminal.open({ command: ['sleep', '1011'], cwd: folder, title, marker: title });
    const titleOf = ({ id }: { id: string }): string => tmux('display-message', '-p', '-t', id, '#{pane_title}');
    expect(border()).toBe('');
    const ann = await open('fixer-a');
    const eve = await open(`#(touch ${folder}/canary)#[fg=red]#{pane_id}`);
    expect([ann, eve].map(titleOf)).toEqual(['fixer-a', expect.stringMatching(/^[^#{}()]+$/)]);
    expect(border()).toContain('pane-border-status top');
    expect(tmux('display-message', '-p', '-t', target, '#{pane_active}')).toBe('1');
    await terminal.close(ann);
    expect(border()).toContain('pane-border-status top');
    tmux('kill-pane', '-t', eve.id);
    expect(await terminal.close(eve)).toBe(false);
    expect(border()).toBe('');
    expect(readdirSync(folder)).not.toContain('canary');
  });

  test('do not change the borders of a window that has foreign panes or a border setting', async (context) => {
    const { environment, target, folder, tmux } = openTmux(context);
    const terminal = tmuxTerminal({ environment, target });
    const border = (): string => tmux('show-options', '-w', '-t', target);
    const open = () => terminal.open({ command: ['sleep', '1012'], cwd: folder, title: 'ann', marker: 'ann' });
    tmux('set-option', '-w', '-t', target, 'pane-border-status', 'bottom');
    await terminal.close(await open());
    expect(border()).toBe('pane-border-status bottom');
    tmux('set-option', '-w', '-u', '-t', target, 'pane-border-status');
    tmux('split-window', '-d', '-t', target, 'sleep', '1013');
    const ann = await open();
    expect(border()).toBe('');
    await terminal.close(ann);
    expect(border()).toBe('');
  });

  // This must be the first test that needs a daemon: the daemon starts in the tmux server that is killed.
  test('F11: after the tmux server is killed the team works on, and a second up shows it in another server', async (context) => {
    const first = openTmux(context);
    const stage = newStage();
    const path = detached(stage);
    type(first.tmux, first.target, `${commandLine(stage)} up --yes ${path}`);
    await until('it has a pane', () => first.panes().length === 2);
    await until('the work has begun', () => stage.work()[0]);
    const pid = await stage.pidOf(stage.team, 'ann');
    process.kill(Number(first.tmux('display-message', '-p', '#{pid}')), 'SIGKILL');
    const second = openTmux(context);
    const canaries = [1, 2, 3].map(() =>
      second.tmux('split-window', '-d', '-t', second.target, '-P', '-F', '#{pane_id}', 'sleep', '1019'),
    );
    const mine = [second.target, ...canaries].toSorted();
    type(second.tmux, second.target, `${commandLine(stage)} up --yes ${path}; echo ended with $?`);
    await until('it has a pane there', () => second.panes().length === 5);
    expect(await stage.pidOf(stage.team, 'ann')).toBe(pid);
    expect(stage.work()).toHaveLength(1);
    stage.letGo();
    const shows = (): string => second.tmux('capture-pane', '-p', '-J', '-t', second.target);
    expect(await until('it has ended', () => /ended with (\d+)/.exec(shows())?.[1])).toBe('0');
    expect(second.panes()).toEqual(mine);
    expect(stage.work()).toHaveLength(1);
  });

  test('F11: show a working team; typed lines become messages; closing a pane does not harm its teammate', async (context) => {
    const { tmux, target, panes } = openTmux(context);
    const stage = newStage();
    const path = stage.teamFile({
      team: stage.team,
      members: [stage.member('ann', 'slow'), stage.member('bob', 'slow')],
      tasks: [
        { title: 'One', assign: 'ann' },
        { title: 'Two', assign: 'bob' },
      ],
    });
    const foreign = tmux('split-window', '-d', '-t', target, '-P', '-F', '#{pane_id}', 'sleep', '1010');
    type(tmux, target, `${commandLine(stage)} up --yes ${path}; echo ended with $?`);
    await until('both have a pane', () => panes().length === 4);
    await until('both work', () => stage.work().length === 2);
    const [, , first = '', second = ''] = panes();
    const shows = (pane: string): string => tmux('capture-pane', '-p', '-J', '-t', pane);
    for (const pane of [first, second]) {
      await until('it shows the work', () => /(ann|bob) of crew[^]*working/.test(shows(pane)));
    }
    const pids = [await stage.pidOf(stage.team, 'ann'), await stage.pidOf(stage.team, 'bob')];
    tmux('kill-pane', '-t', first);
    expect(panes()).toHaveLength(3);
    const other = shows(second).includes('ann of crew') ? 'ann' : 'bob';
    for (const line of ['Mind the #(touch canary); $(touch canary)', '!Hurry']) {
      tmux('send-keys', '-t', second, '-l', '--', line);
      tmux('send-keys', '-t', second, 'Enter');
    }
    const typed = await until('what was typed has come', async () => {
      const inbox = await stage.client().call('message.inbox', { teamId: stage.team, memberId: other });
      return inbox.length === 2 && inbox.map(({ content, priority, fromId }) => [fromId, priority, content]);
    });
    expect(typed).toEqual([
      ['@user', 'normal', 'Mind the #(touch canary); $(touch canary)'],
      ['@user', 'urgent', 'Hurry'],
    ]);
    expect([await stage.pidOf(stage.team, 'ann'), await stage.pidOf(stage.team, 'bob')]).toEqual(pids);
    expect(pids.map(isAlive)).toEqual([true, true]);
    stage.letGo();
    const ended = await until('it has ended', () => /ended with (\d+)/.exec(shows(target))?.[1]);
    expect(ended).toBe('0');
    expect(panes()).toEqual([target, foreign]);
    expect(stage.work()).toHaveLength(2);
  });

  test('Ctrl-C while panes open closes them without a complaint: the terminal sends it to the programs that open them, too', async (context) => {
    const { tmux, target, panes } = openTmux(context);
    const stage = newStage();
    const path = stage.teamFile({
      team: stage.team,
      members: ['ann', 'bob', 'cyd', 'dan', 'eve'].map((name) => stage.member(name, 'slow')),
      tasks: [{ title: 'One' }],
    });
    type(tmux, target, `${commandLine(stage)} up --yes ${path}; echo ended with $?`);
    await until('some have a pane', () => panes().length >= 3);
    tmux('send-keys', '-t', target, 'C-c');
    const shows = (): string => tmux('capture-pane', '-p', '-J', '-S', '-', '-t', target);
    expect(await until('it has ended', () => /ended with (\d+)/.exec(shows())?.[1])).toBe('130');
    expect(shows()).not.toContain('No pane for');
    expect(panes()).toEqual([target]);
  });

  test('F10: a view outlives the daemon and shows the teammate that the next daemon adopted', async (context) => {
    const { tmux, target } = openTmux(context);
    const stage = newStage();
    await detach(stage);
    await until('the work has begun', () => stage.work()[0]);
    const shows = (): string => tmux('capture-pane', '-p', '-J', '-S', '-', '-t', target);
    type(tmux, target, `${commandLine(stage)} attach ann --team ${stage.team}; echo left with $?`);
    await until('the view shows the work', () => /ann of crew[^]*working/.test(shows()));
    const pid = await stage.pidOf(stage.team, 'ann');
    const daemon = stage.daemonPid();
    process.kill(daemon, 'SIGKILL');
    await until('the daemon is gone', () => !isAlive(daemon));
    await stage.ask('status');
    expect(await stage.pidOf(stage.team, 'ann')).toBe(pid);
    type(tmux, target, 'Are you there?');
    await until('what was typed has come', async () => {
      const inbox = await stage.client().call('message.inbox', { teamId: stage.team, memberId: 'ann' });
      return inbox.some(({ content }) => content === 'Are you there?');
    });
    stage.letGo();
    await until('the view shows how it went on', () => shows().includes('■ done'));
    expect(shows()).not.toMatch(/left with \d/);
    tmux('send-keys', '-t', target, 'C-c');
    await until('the view ends on Ctrl-C', () => /left with \d/.test(shows()));
  });
});

function detached(stage: Stage): string {
  return stage.teamFile({ team: stage.team, members: [stage.member('ann', 'slow')], tasks: [{ title: 'One' }] });
}

async function detach(stage: Stage): Promise<void> {
  const { code, stderr } = await stage.troupe('up', '--yes', detached(stage), '--detach');
  expect(code, stderr).toBe(0);
}

/** The start of a command line as a person types it into a shell. */
function commandLine({ home, folder }: Stage): string {
  const { TROUPE_HOME, TROUPE_SOURCE } = environmentFor(home);
  return `cd ${folder} && TROUPE_HOME=${TROUPE_HOME} TROUPE_SOURCE=${TROUPE_SOURCE} ${process.execPath} ${BIN}`;
}

function type(tmux: (...words: string[]) => string, pane: string, line: string): void {
  tmux('send-keys', '-t', pane, '-l', '--', line);
  tmux('send-keys', '-t', pane, 'Enter');
}
