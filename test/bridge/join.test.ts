import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isThere } from '../../src/bridge/json-file.ts';
import { nativePaths } from '../../src/bridge/layout.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { writeInPlace } from './foreign.ts';
import { proves } from './requirements.ts';
import { addMember, file, NATIVE, read, readList, readTeam, setStage, TEAM } from './stage.ts';

describe('a team that joined a native one', () => {
  test('has the native members and tasks, and adds its own there', async () => {
    const { ledger, tasks, paths, settled } = await setStage();
    const members = await ledger.view(TEAM, (state) => [...state.members.keys()]);
    expect(members).toEqual(['team-lead', 'alice', 'codex-1']);
    expect((await tasks.listTasks(TEAM)).map(({ id, title }) => `${id} ${title}`)).toEqual(['1 Task 1', '2 Task 2']);
    const config = readTeam(paths.config);
    expect(config.members[2]).toMatchObject({
      name: 'codex-1',
      agentId: `codex-1@${NATIVE}`,
      backendType: 'tmux',
      tmuxPaneId: '',
    });
    const made = await tasks.createTask(TEAM, 'codex-1', { title: 'Ours', dependencies: ['1'] });
    await settled();
    expect(read(paths.task(made.id))).toMatchObject({ id: '3', subject: 'Ours', status: 'pending', blockedBy: ['1'] });
    expect(read(paths.task('1'))).toMatchObject({ blocks: ['3'] });
  });

  test('takes no work from the natives that did it, whatever their tasks wait for', async () => {
    const given = {
      '1': file('1', { status: 'completed', owner: 'alice' }),
      '2': file('2', { status: 'in_progress', owner: 'alice', blockedBy: ['1'] }),
      // Their rules allow all of this.
      '3': file('3', { status: 'in_progress', owner: 'alice', blockedBy: ['4', '6'] }),
      '4': file('4', { status: 'pending', blockedBy: ['3'] }),
      '5': file('5', { status: 'completed', owner: 'alice', blockedBy: ['4', '6', '1'] }),
      '6': file('6', { status: 'completed', owner: 'team-lead' }),
      // Not listed yet.
      '7': file('7', { status: 'in_progress', owner: 'bob', blockedBy: ['6', '2'] }),
    };
    const { bridge, paths, open } = await setStage();
    await bridge.leave(TEAM);
    for (const [id, task] of Object.entries(given)) writeFileSync(paths.task(id), JSON.stringify(task));
    const { bridge: later, tasks, ledger } = open('another home', memoryJournal());
    await later.join(NATIVE);
    await later.settled(TEAM);
    await later.settled(TEAM);
    for (const [id, { status, owner }] of Object.entries(given)) {
      const now = read(paths.task(id));
      expect({ id, status: now['status'], owner: now['owner'] }).toEqual({ id, status, owner });
    }
    const list = await tasks.listTasks(TEAM);
    expect(list.map(({ id, status, assigneeId, dependencies }) => [id, status, assigneeId, dependencies])).toEqual([
      ['1', 'completed', 'alice', []],
      ['2', 'in_progress', 'alice', ['1']],
      ['3', 'in_progress', 'alice', ['6']],
      ['4', 'blocked', undefined, ['3']],
      ['5', 'completed', 'alice', ['1', '6']],
      ['6', 'completed', 'team-lead', []],
      ['7', 'blocked', undefined, ['6']],
    ]);
    expect(await ledger.view(TEAM, (state) => state.tasks.get('7')?.withheld)).toMatch(/bob/);
    expect(isThere(paths.inbox('alice'))).toBe(false);
  });

  test('leaves, and joins again with the same tasks', async () => {
    const { bridge, tasks, paths, settled } = await setStage();
    await tasks.claimTask(TEAM, '1', 'codex-1');
    await settled();
    await bridge.leave(TEAM);
    writeInPlace(paths.task('2'), { ...read(paths.task('2')), owner: 'alice', status: 'in_progress' });
    await tasks.completeTask(TEAM, '1', 'codex-1');
    await bridge.join(NATIVE);
    await settled();
    expect((await tasks.listTasks(TEAM)).map(({ id, status, assigneeId }) => [id, status, assigneeId])).toEqual([
      ['1', 'completed', 'codex-1'],
      ['2', 'in_progress', 'alice'],
    ]);
    expect(read(paths.task('1'))).toMatchObject({ status: 'completed' });
  });

  test('does not change the native one when it is closed, and can join it again under another name', async () => {
    const { bridge, ledger, tasks, paths, open, journal, settled } = await setStage();
    await tasks.claimTask(TEAM, '1', 'codex-1');
    writeInPlace(paths.task('2'), { ...read(paths.task('2')), owner: 'alice', status: 'in_progress' });
    await settled();
    const by = '@user' as const;
    await ledger.execute(TEAM, { type: 'team.update', by, status: 'shutting-down' }, () => undefined);
    writeFileSync(paths.task('3'), JSON.stringify(file('3', { owner: 'alice', status: 'in_progress' })));
    await settled();
    // Changes by natives in the meantime are not undone.
    expect(read(paths.task('3'))).toMatchObject({ owner: 'alice', status: 'in_progress' });
    await ledger.execute(TEAM, { type: 'team.close', by, force: true }, () => undefined);
    await expect.poll(() => bridge.joined()).toEqual([]);
    await expect.poll(() => readTeam(paths.config).members.map(({ name }) => name)).toEqual(['team-lead', 'alice']);
    expect(read(paths.config)).not.toHaveProperty('metadata');
    expect(read(paths.task('1'))).toMatchObject({ status: 'pending' });
    expect(read(paths.task('1'))).not.toHaveProperty('owner');
    expect(read(paths.task('2'))).toMatchObject({ owner: 'alice', status: 'in_progress' });
    writeInPlace(paths.task('2'), { ...read(paths.task('2')), status: 'completed' });
    const later = open('home', journal);
    await later.bridge.start();
    expect(later.bridge.joined()).toEqual([]);
    await expect(later.bridge.join(NATIVE)).rejects.toThrow(/closed team .*remove it/);
    await later.bridge.join(NATIVE, { as: 'again' });
    expect(read(paths.task('2'))).toMatchObject({ owner: 'alice', status: 'completed' });
    expect(isThere(paths.inbox('alice'))).toBe(false);
    expect((await later.tasks.listTasks('again')).map(({ status }) => status)).toEqual([
      'pending',
      'completed',
      'in_progress',
    ]);
  });

  test('also leaves it when it is deleted, or was closed by a daemon that was killed afterwards', async () => {
    const { bridge, ledger, tasks, paths, open, journal, settled } = await setStage();
    const members = (): unknown[] => readTeam(paths.config).members.map(({ name }) => name);
    await tasks.claimTask(TEAM, '1', 'codex-1');
    await settled();
    await bridge.close();
    await ledger.execute(TEAM, { type: 'team.close', by: '@user', force: true }, () => undefined);
    expect(members()).toEqual(['team-lead', 'alice', 'codex-1']);
    const later = open('home', journal);
    await later.bridge.start();
    await expect.poll(members).toEqual(['team-lead', 'alice']);
    expect(read(paths.task('1'))).toMatchObject({ status: 'pending' });
    await later.ledger.drop(TEAM);
    await later.bridge.join(NATIVE);
    await addMember(later.ledger, 'codex-1');
    await expect.poll(members).toEqual(['team-lead', 'alice', 'codex-1']);
    await later.ledger.drop(TEAM);
    await later.bridge.settled(TEAM);
    await expect.poll(members).toEqual(['team-lead', 'alice']);
    expect(later.bridge.joined()).toEqual([]);
  });

  test('is made again for players when the native one was closed and made again', async () => {
    const { bridge, ledger, paths } = await setStage();
    await bridge.leave(TEAM);
    await ledger.drop(TEAM);
    const config = read(paths.config);
    const agent = { kind: 'exec' as const, command: ['true'] };
    const sit = (ticket: string) =>
      bridge.seats.sit({ name: NATIVE, member: 'alice', agent, cwd: '/tmp', plan: false, signs: false, ticket });
    expect(await sit('first')).toEqual({ teamId: TEAM, memberId: 'alice' });
    rmSync(paths.team, { recursive: true });
    await expect.poll(() => ledger.view(TEAM, ({ team }) => team?.status)).toBe('cleaned-up');
    mkdirSync(paths.team);
    writeFileSync(paths.config, JSON.stringify(config));
    expect(await sit('second')).toEqual({ teamId: `${TEAM}-2`, memberId: 'alice' });
    expect(bridge.joined().map(({ teamId }) => teamId)).toEqual([`${TEAM}-2`]);
  });

  test('resumes after a restart with the same tasks and no message twice', async () => {
    const { bridge, tasks, mail, paths, journal, open, settled } = await setStage({
      leadProcess: { pid: process.pid },
    });
    await tasks.claimTask(TEAM, '1', 'codex-1');
    await mail.send(TEAM, 'codex-1', { toId: 'alice', content: 'once' });
    await settled();
    await bridge.close();
    // While no daemon runs, alice takes the other task and reads her messages.
    writeInPlace(paths.task('2'), { ...read(paths.task('2')), owner: 'alice', status: 'in_progress' });
    writeFileSync(paths.inbox('alice'), '[]');
    const later = open('home', journal);
    await later.bridge.start();
    await later.bridge.settled(TEAM);
    await later.bridge.settled(TEAM);
    const list = await later.tasks.listTasks(TEAM);
    expect(list.map(({ id, assigneeId }) => `${id} ${assigneeId}`)).toEqual(['1 codex-1', '2 alice']);
    expect(readList(paths.inbox('alice'))).toEqual([]);
    expect((await later.mail.getInbox(TEAM, 'alice'))[0]?.acknowledgedAt).toBeInstanceOf(Date);
  });

  test('cannot be joined by a second daemon on the same directory', async () => {
    const { bridge, open, paths } = await setStage();
    const rival = open('another home', memoryJournal());
    await expect(rival.bridge.join(NATIVE)).rejects.toThrow(`another daemon (process ${process.pid}, home)`);
    await bridge.leave(TEAM);
    expect(readTeam(paths.config)).not.toHaveProperty('metadata');
    expect(readTeam(paths.config).members).toHaveLength(2);
    await expect(rival.bridge.join(NATIVE)).resolves.toMatchObject({ teamId: TEAM });
  });

  proves('config-needs-lead-id', 'refuses a native team without the id of its lead or of a member', async () => {
    const { root, bridge } = await setStage();
    const paths = nativePaths(root, 'mini');
    mkdirSync(paths.team, { recursive: true });
    const lead = { name: 'team-lead', agentId: 'team-lead@mini' };
    for (const config of [{ members: [lead] }, { leadAgentId: lead.agentId, members: [lead, { name: 'w1' }] }]) {
      writeFileSync(paths.config, JSON.stringify({ name: 'mini', ...config }));
      await expect(bridge.join('mini')).rejects.toThrow('has no leadAgentId, or members without agentId');
      expect(read(paths.config)).toEqual({ name: 'mini', ...config });
    }
    writeFileSync(paths.config, JSON.stringify({ name: 'mini', leadAgentId: lead.agentId, members: [lead] }));
    await expect(bridge.join('mini')).resolves.toMatchObject({ teamId: 'mini' });
  });

  proves('config-simple', 'joins a team in the simplified form, and keeps that form', async () => {
    const { root, bridge, tasks, mail, ledger } = await setStage();
    const paths = nativePaths(root, 'mini');
    mkdirSync(paths.team, { recursive: true });
    mkdirSync(paths.tasks, { recursive: true });
    writeFileSync(paths.config, JSON.stringify({ teamName: 'mini', members: [{ name: 'team-lead' }, { name: 'w1' }] }));
    const task = {
      id: '1',
      subject: 'Look',
      description: '',
      status: 'in_progress',
      owner: 'w1',
      blocks: [],
      blockedBy: [],
    };
    writeFileSync(paths.task('1'), JSON.stringify(task));
    await expect(bridge.join('mini')).resolves.toMatchObject({ teamId: 'mini' });
    await bridge.settled('mini');
    expect(await tasks.listTasks('mini')).toMatchObject([
      { id: '1', title: 'Look', assigneeId: 'w1', status: 'in_progress' },
    ]);
    const members = await ledger.view('mini', (state) => [...state.members.keys()]);
    expect(members.toSorted()).toEqual(['team-lead', 'w1']);
    await mail.send('mini', 'team-lead', { toId: 'w1', content: 'hello' });
    await bridge.settled('mini');
    await bridge.settled('mini');
    expect(readList(paths.inbox('w1'))).toMatchObject([{ text: 'hello' }]);
    await bridge.leave('mini');
    expect(readTeam(paths.config)).toMatchObject({
      teamName: 'mini',
      members: [{ name: 'team-lead' }, { name: 'w1' }],
    });
    expect(readTeam(paths.config)).not.toHaveProperty('name');
  });

  test('refuses what it cannot share', async () => {
    const { root, bridge } = await setStage();
    const paths = nativePaths(root, 'mini');
    mkdirSync(paths.team, { recursive: true });
    writeFileSync(paths.config, '{"crew":[]}');
    await expect(bridge.join('mini')).rejects.toThrow('unknown form');
    await expect(bridge.join('nobody')).rejects.toThrow('no native team');
    const config = { leadAgentId: 'l', members: [{ name: 'team-lead', agentId: 'l' }] };
    mkdirSync(join(root, 'teams/équipe'));
    writeFileSync(join(root, 'teams/équipe/config.json'), JSON.stringify({ name: 'équipe', ...config }));
    await expect(bridge.join('équipe')).rejects.toThrow('cannot be joined: the name of its directory');
    writeFileSync(paths.config, JSON.stringify({ name: 'mini', ...config }));
    symlinkSync(join(root, 'tasks', NATIVE), paths.tasks);
    await expect(bridge.join('mini')).rejects.toThrow('cannot be joined: its directory of tasks is a symbolic link');
    rmSync(paths.tasks);
    await expect(bridge.join('mini')).resolves.toMatchObject({ teamId: 'mini' });
  });
});
