import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { NativeEvent } from '../../src/bridge/differences.ts';
import { nativePaths } from '../../src/bridge/layout.ts';
import { openSight } from '../../src/bridge/sight.ts';
import type { Sight } from '../../src/bridge/sight.ts';
import { findReadOnly, listNative } from '../../src/bridge/snapshot.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { writeInPlace } from './foreign.ts';
import { proves } from './requirements.ts';

const CAPTURES = join(import.meta.dirname, '../fixtures/claude-code');

function open(root: string, sweep = 60_000): { sight: Sight; events: NativeEvent[]; errors: unknown[] } {
  const events: NativeEvent[] = [];
  const errors: unknown[] = [];
  const sight = openSight(root, { sweep, onError: (error) => errors.push(error) });
  sight.subscribe((event) => events.push(event));
  onTestFinished(() => sight.close());
  return { sight, events, errors };
}

function captured(path: string): string {
  const root = temporaryFolder();
  cpSync(join(CAPTURES, path), root, { recursive: true });
  return root;
}

const textsOf = (events: readonly NativeEvent[]): string[] =>
  events.flatMap((event) => ('text' in event && typeof event.text === 'string' ? event.text : []));

const TASK = { id: '1', subject: 'One', status: 'pending', blocks: [], blockedBy: [] };

describe('the view of native teams', () => {
  proves(
    ['layout-session-tasks', 'config-active'],
    'shows teams of both forms, their members, and the tasks of sessions',
    () => {
      const root = captured('2.1.37/08-minimal-configs');
      cpSync(join(CAPTURES, '2.1.325/06-stream-json-lead'), root, { recursive: true });
      const teams = open(root).sight.list();
      expect(teams.map(({ name, kind, form }) => `${name} ${kind} ${form}`)).toEqual([
        '62fd9ac4-6c7d-4d89-a92e-c5302cc28331 session no-config',
        'mid team known',
        'mini team known',
        'nocfg team no-config',
      ]);
      expect(teams[2]?.config?.members[0]).toMatchObject({ name: 'w1', isActive: true });
      expect(teams.every(({ problems }) => problems.length === 0)).toBe(true);
    },
  );

  proves('task-internal', 'hides the tasks that stand for teammates', async () => {
    const { nativeOperations } = await import('../../src/operations/native.ts');
    const root = captured('2.1.37/01-interactive-inprocess');
    const { sight } = open(root);
    const raw = sight.list().flatMap(({ tasks }) => [...tasks.values()]);
    expect(raw.some(({ metadata }) => metadata?.['_internal'] === true)).toBe(true);
    const list = nativeOperations[0];
    const native = { root, sight: () => sight };
    const { teams } = await list.run({ native, signal: new AbortController().signal } as never, {});
    expect(teams.flatMap(({ tasks }) => tasks).length).toBe(
      raw.filter(({ metadata }) => metadata?.['_internal'] !== true).length,
    );
  });

  test('reports new teammates, changed tasks and messages', async () => {
    const root = captured('2.1.325/02-interactive-inprocess-tasks');
    const { sight, events } = open(root);
    const [team] = sight.list();
    const paths = nativePaths(root, team?.name ?? '');
    events.length = 0;
    const config = JSON.parse(readFileSync(paths.config, 'utf8')) as { members: object[] };
    writeInPlace(paths.config, { ...config, members: [...config.members, { name: 'carol', agentId: 'carol@x' }] });
    writeInPlace(paths.task('2'), { ...TASK, id: '2', owner: 'carol', status: 'in_progress' });
    const entry = { from: 'carol', text: 'hello', timestamp: '2026-11-15T00:00:00.000Z', read: false };
    writeFileSync(paths.inbox('alice'), JSON.stringify([entry]));
    await expect
      .poll(() => events.map(({ type }) => type))
      .toEqual(expect.arrayContaining(['teammate-appeared', 'task-changed', 'message-passed']));
    writeFileSync(paths.inbox('alice'), '[]');
    unlinkSync(paths.task('2'));
    await expect
      .poll(() => events.map(({ type }) => type))
      .toEqual(expect.arrayContaining(['message-read', 'task-gone']));
    expect(sight.events(0).at(-1)?.number).toBe(sight.count);
  });

  proves('config-active', 'reports when a teammate in a pane begins and ends a turn', () => {
    const root = captured('2.1.325/04-tmux');
    const { sight, events } = open(root);
    const { name: team = '' } = sight.list().find(({ config }) => config !== undefined) ?? {};
    const path = nativePaths(root, team).config;
    const config = JSON.parse(readFileSync(path, 'utf8')) as { members: { name: string }[] };
    for (const active of [true, false]) {
      events.length = 0;
      const members = config.members.map((one) => (one.name === 'bob' ? { ...one, isActive: active } : one));
      writeInPlace(path, { ...config, members });
      sight.list();
      expect(events).toEqual([{ type: 'teammate-changed', team, member: 'bob', active }]);
    }
  });

  test('replays a recorded run, event by event', async () => {
    const lines = readFileSync(join(CAPTURES, '2.1.325/02-interactive-inprocess-tasks/CHANGES.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const root = join(temporaryFolder(), 'claude');
    mkdirSync(root);
    const { sight, events } = open(root);
    for (const line of lines) {
      const { ev, p, c } = JSON.parse(line) as { ev: string; p: string; c?: string };
      if (p.includes('.lock/') || p.includes('.tmp.')) continue;
      const path = join(root, p);
      if (p.endsWith('/')) mkdirSync(path, { recursive: true });
      else if (ev === 'delete') rmSync(path, { force: true, recursive: true });
      else if (c !== undefined) {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, c);
      }
      sight.list();
    }
    const seen = (type: string): NativeEvent[] => events.filter((event) => event.type === type);
    expect(seen('teammate-appeared').map((event) => 'member' in event && event.member)).toEqual(
      expect.arrayContaining(['team-lead', 'alice', 'bob']),
    );
    expect(seen('message-passed').length).toBeGreaterThan(1);
    expect(seen('message-read').length).toBeGreaterThan(0);
    expect(seen('task-changed').length).toBeGreaterThan(0);
    expect(sight.list().flatMap(({ problems }) => problems)).toEqual([]);
  });

  test('F29: finds all changes even if the queue of notifications overflows', async () => {
    const root = captured('2.1.325/02-interactive-inprocess-tasks');
    // Old files need no second check.
    for (const path of readdirSync(root, { recursive: true, encoding: 'utf8' })) utimesSync(join(root, path), 0, 0);
    // A view that has only the notifications, because its sweep is hours away.
    const blind = open(root, 3_600_000);
    const { sight, events } = open(root, 50);
    const [team] = sight.list();
    const paths = nativePaths(root, team?.name ?? '');
    for (const one of [blind.events, events]) one.length = 0;
    // Nothing reads the queue in between, and it holds 16,384. Two notifications of the same file in a row would be
    // one.
    const others = ['x.json', 'y.json'].map((name) => join(paths.tasks, name));
    for (const path of others) writeFileSync(path, '');
    for (let i = 0; i < 9_000; i++) for (const path of others) utimesSync(path, i, i);
    for (let id = 100; id < 200; id++) {
      writeFileSync(paths.task(String(id)), JSON.stringify({ ...TASK, id: String(id) }));
    }
    const says = (text: string) => JSON.stringify([{ from: 'bob', text, timestamp: 'x' }]);
    writeFileSync(paths.inbox('alice'), says('the last'));
    const hears = (all: readonly NativeEvent[], text: string): boolean => textsOf(all).includes(text);
    await expect.poll(() => events.filter(({ type }) => type === 'task-appeared').length).toBe(100);
    await expect.poll(() => hears(events, 'the last')).toBe(true);
    // The overflow lost this notification. A later change is reported again.
    const sendAgain = (): boolean => {
      writeFileSync(paths.inbox('carol'), says('and another'));
      return hears(blind.events, 'and another');
    };
    await expect.poll(sendAgain, { interval: 50 }).toBe(true);
    expect(textsOf(blind.events)[0]).toBe('and another');
  });

  test('F29: works without watches if the system has no more, and says so', async (context) => {
    const limit = '/proc/sys/user/max_inotify_watches';
    const script = `echo 2 > ${limit} && exec "$@"`;
    const command = ['-Ur', 'sh', '-c', script, 'sh'];
    context.skip(spawnSync('unshare', [...command, 'true']).status !== 0, 'no namespace of its own is to be had');
    const root = captured('2.1.325/02-interactive-inprocess-tasks');
    const program = join(import.meta.dirname, 'programs/limited-sight.ts');
    const child = spawn('unshare', [...command, process.execPath, program, root], { stdio: ['ignore', 'pipe', 2] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    let said = '';
    child.stdout?.on('data', (text: Buffer) => (said += text.toString()));
    await expect.poll(() => said).toBe('degraded true\n');
    const [name = ''] = listNative(root);
    writeFileSync(nativePaths(root, name).task('77'), JSON.stringify({ ...TASK, id: '77' }));
    await expect.poll(() => said).toContain(`${name} 77\n`);
    await ended;
  });

  test('F30: reports a replaced file, each time', async () => {
    const root = captured('2.1.325/02-interactive-inprocess-tasks');
    const { sight, events } = open(root);
    const [team] = sight.list();
    const path = nativePaths(root, team?.name ?? '').inbox('alice');
    for (let i = 1; i <= 20; i++) {
      const text = `the ${i}th`;
      writeFileSync(`${path}.tmp.0000000a`, JSON.stringify([{ from: 'bob', text, timestamp: 'x' }]));
      renameSync(`${path}.tmp.0000000a`, path);
      await expect.poll(() => events.some((event) => 'text' in event && event.text === text)).toBe(true);
    }
  });

  test('F29: says if there are more directories than it watches, and still finds changes in them', async () => {
    const root = temporaryFolder();
    for (let i = 0; i < 520; i++) {
      const paths = nativePaths(root, `team-${1000 + i}`);
      for (const path of [paths.team, paths.tasks]) mkdirSync(path, { recursive: true });
    }
    const { sight, events } = open(root, 200);
    expect(sight.degraded).toBe(true);
    events.length = 0;
    writeFileSync(nativePaths(root, 'team-1519').task('1'), JSON.stringify(TASK));
    await expect.poll(() => events).toMatchObject([{ type: 'task-appeared', team: 'team-1519' }]);
  });

  test('sees a change with the same size at the same time', () => {
    const root = temporaryFolder();
    const paths = nativePaths(root, 'quick');
    mkdirSync(paths.tasks, { recursive: true });
    const { sight } = open(root);
    for (let i = 0; i < 50; i++) {
      const subject = `Words ${10 + i}`;
      writeFileSync(paths.task('1'), JSON.stringify({ ...TASK, subject }));
      expect(sight.team('quick')?.tasks.get('1')?.subject).toBe(subject);
    }
  });

  test('shows the previous content of a torn file, says so, and shows it when it is whole again', async () => {
    const root = captured('2.1.325/02-interactive-inprocess-tasks');
    const { sight, events } = open(root);
    const [team] = sight.list();
    const name = team?.name ?? '';
    const paths = nativePaths(root, name);
    const text = readFileSync(paths.config, 'utf8');
    events.length = 0;
    for (const torn of ['', text.slice(0, 100), `${text}"}`]) {
      writeFileSync(paths.config, torn);
      const shown = sight.team(name);
      expect(shown?.config?.members).toEqual(team?.config?.members);
      expect(shown?.problems.join()).toContain('shown as it was before');
      expect(shown?.unsettled).toBe(true);
    }
    writeFileSync(paths.config, text);
    await expect.poll(() => sight.team(name)?.problems).toEqual([]);
    expect(events.filter(({ type }) => type.startsWith('teammate') || type.startsWith('task'))).toEqual([]);
  });

  test('F26: follows a team that is renamed, removed, and made again', async () => {
    const root = captured('2.1.325/02-interactive-inprocess-tasks');
    const { sight, events } = open(root, 200);
    const [team] = sight.list();
    const paths = nativePaths(root, team?.name ?? '');
    events.length = 0;
    renameSync(paths.team, join(root, 'teams/other'));
    await expect.poll(() => sight.list().map(({ name }) => name)).toContain('other');
    rmSync(join(root, 'teams/other'), { recursive: true });
    await expect.poll(() => events.map(({ type, team }) => `${type} ${team}`)).toContain('team-gone other');
    mkdirSync(paths.inboxes, { recursive: true });
    writeFileSync(
      paths.config,
      JSON.stringify({ name: 'again', leadAgentId: 'x', members: [{ name: 'new', agentId: 'n' }] }),
    );
    await expect.poll(() => events.some((event) => 'member' in event && event.member === 'new')).toBe(true);
    // The new directory is watched too.
    events.length = 0;
    writeFileSync(paths.inbox('new'), JSON.stringify([{ from: 'a', text: 'b', timestamp: 'c' }]));
    await expect.poll(() => events.map(({ type }) => type)).toContain('message-passed');
  });

  test('refuses a root that is a link, or that another user owns', async (context) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'real/teams'), { recursive: true });
    symlinkSync(join(folder, 'real'), join(folder, 'link'));
    expect(() => open(join(folder, 'link')).sight.list()).toThrow('symbolic link');
    symlinkSync(join(folder, 'real/teams'), join(folder, 'real/tasks'));
    expect(() => open(join(folder, 'real')).sight.list()).toThrow('symbolic link');
    expect(() => open('/etc/hostname').sight.list()).toThrow('not a directory');
    context.skip(process.getuid?.() === 0, 'root owns everything');
    expect(() => open('/etc').sight.list()).toThrow('belongs to user');
  });

  test('shows teams with names that we do not write to, and says why', () => {
    const root = temporaryFolder();
    const names = ['-rf', 'a\nb', 'x'.repeat(200), '\u001b[31mred', 'équipe'];
    for (const name of names) {
      mkdirSync(join(root, 'teams', name), { recursive: true });
      const config = { name, leadAgentId: 'l', members: [{ name: 'bob', agentId: 'b' }] };
      writeFileSync(join(root, 'teams', name, 'config.json'), JSON.stringify(config));
    }
    // A name that is not UTF-8, and directories that are not teams.
    mkdirSync(Buffer.concat([Buffer.from(join(root, 'teams/bad-')), Buffer.from([0xff])]));
    for (const name of ['.hidden', 'x.lock']) mkdirSync(join(root, 'teams', name));
    const teams = open(root).sight.list();
    expect(teams.map(({ name }) => name)).toEqual([...names, 'bad-\ufffd'].sort());
    for (const { name, readOnly, config } of teams) {
      expect(readOnly).toContain('the name of its directory');
      if (names.includes(name)) expect(config?.members).toHaveLength(1);
    }
  });

  test('follows no link below the root, and says which team has one', () => {
    const root = captured('2.1.325/02-interactive-inprocess-tasks');
    const elsewhere = captured('2.1.325/02-interactive-inprocess-tasks');
    const { sight, events } = open(root);
    const name = sight.list()[0]?.name ?? '';
    const [paths, theirs] = [nativePaths(root, name), nativePaths(elsewhere, name)];
    const whole = sight.team(name);
    expect([whole?.readOnly, (whole?.tasks.size ?? 0) > 0, (whole?.inboxes.size ?? 0) > 0]).toEqual([
      undefined,
      true,
      true,
    ]);
    for (const folder of ['tasks', 'inboxes', 'team'] as const) {
      rmSync(paths[folder], { recursive: true });
      symlinkSync(theirs[folder], paths[folder]);
      events.length = 0;
      const shown = sight.team(name);
      expect(shown?.readOnly).toMatch(
        /^(its directory( of tasks)?|inboxes) is a symbolic link, which is not followed$/,
      );
      expect(folder === 'tasks' ? shown?.tasks.size : shown?.inboxes.size).toBe(0);
      expect(shown?.form).toBe(folder === 'team' ? 'unreadable' : 'known');
      expect(sight.list().map((one) => one.name)).toContain(name);
      rmSync(paths[folder]);
      cpSync(theirs[folder], paths[folder], { recursive: true });
      expect(sight.team(name)).toMatchObject({ readOnly: undefined, form: 'known' });
    }
    expect(sight.team(name)?.tasks).toEqual(whole?.tasks);
    const [file = ''] = [...(whole?.inboxes.keys() ?? [])];
    rmSync(paths.inbox(file));
    symlinkSync(theirs.inbox(file), paths.inbox(file));
    expect(sight.team(name)?.readOnly).toBe(`inboxes/${file}.json is a symbolic link, which is not followed`);
    expect(findReadOnly(root)).toEqual([{ name, why: sight.team(name)?.readOnly }]);
  });

  test('F27: shows an unknown form', () => {
    const root = temporaryFolder();
    const paths = nativePaths(root, 'odd');
    mkdirSync(paths.team, { recursive: true });
    writeFileSync(paths.config, JSON.stringify({ version: 9, crew: [] }));
    utimesSync(paths.config, 1, 1);
    expect(open(root).sight.list()).toMatchObject([
      { name: 'odd', form: 'unknown', problems: [expect.stringContaining('form')] },
    ]);
  });
});
