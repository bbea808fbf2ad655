import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nativePaths } from '../../src/bridge/layout.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { writeInPlace } from './foreign.ts';
import { proves } from './requirements.ts';
import { file, member, NATIVE, read, readList, readStamp, readTeam, setStage, TEAM } from './stage.ts';
import type { Json } from './stage.ts';

describe('a team that joined a native one', () => {
  test('has its members and tasks, and shows it its own', async () => {
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

  test('numbers tasks alike, also when it does not know yet who has just come for one of them', async () => {
    const { tasks, paths, settled } = await setStage();
    const carol = { ...member('carol'), backendType: 'tmux', tmuxPaneId: '%9', joinedAt: Date.now() };
    const config = read(paths.config) as { members: Json[] };
    writeFileSync(paths.config, JSON.stringify({ ...config, members: [...config.members, carol] }));
    writeFileSync(paths.task('3'), JSON.stringify(file('3', { owner: 'carol', status: 'in_progress' })));
    writeFileSync(paths.task('4'), JSON.stringify(file('4')));
    await settled();
    const now = read(paths.config) as { members: Json[] };
    const members = now.members.map((one) => (one['name'] === 'carol' ? { ...one, isActive: true } : one));
    writeFileSync(paths.config, JSON.stringify({ ...now, members }));
    await settled();
    expect(await tasks.getTask(TEAM, '3')).toMatchObject({ status: 'in_progress', assigneeId: 'carol' });
    expect(await tasks.getTask(TEAM, '4')).toMatchObject({ title: 'Task 4', status: 'pending' });
  });

  test('shares every step of a task, whoever takes it', async () => {
    const { tasks, paths, settled } = await setStage();
    await tasks.claimTask(TEAM, '1', 'codex-1');
    expect(read(paths.task('1'))).toMatchObject({ owner: 'codex-1', status: 'in_progress' });
    await tasks.completeTask(TEAM, '1', 'codex-1', { result: 'done' });
    writeInPlace(paths.task('2'), file('2', { owner: 'alice', status: 'in_progress' }));
    await settled();
    expect(read(paths.task('1'))).toMatchObject({ owner: 'codex-1', status: 'completed' });
    expect(await tasks.getTask(TEAM, '2')).toMatchObject({ status: 'in_progress', assigneeId: 'alice', epoch: 1 });
    await expect(tasks.claimTask(TEAM, '2', 'codex-1')).rejects.toThrow('held by alice');
    writeInPlace(paths.task('2'), { ...read(paths.task('2')), status: 'completed', subject: 'Other words' });
    writeFileSync(paths.task('7'), JSON.stringify(file('7', { blockedBy: ['2'] })));
    await settled();
    expect(await tasks.getTask(TEAM, '2')).toMatchObject({ status: 'completed', title: 'Other words' });
    expect(await tasks.getTask(TEAM, '7')).toMatchObject({ status: 'pending', dependencies: ['2'] });
    unlinkSync(paths.task('7'));
    await settled();
    expect(await tasks.getTask(TEAM, '7')).toMatchObject({ status: 'deleted' });
    const next = await tasks.createTask(TEAM, 'codex-1', { title: 'Next' });
    await tasks.updateTask(TEAM, next.id, { status: 'deleted' });
    await settled();
    expect(existsSync(paths.task(next.id))).toBe(false);
  });

  proves('task-no-lock', 'finds a stale overwrite of its claim, puts it right and tells the loser', async () => {
    const { bridge, tasks, paths, settled } = await setStage();
    const before = read(paths.task('1'));
    await tasks.claimTask(TEAM, '1', 'codex-1');
    await settled();
    // Read before our claim, written after it, without any lock.
    writeInPlace(paths.task('1'), { ...before, owner: 'alice', status: 'in_progress' });
    await settled();
    expect(await tasks.getTask(TEAM, '1')).toMatchObject({ assigneeId: 'codex-1', epoch: 1 });
    expect(read(paths.task('1'))).toMatchObject({ owner: 'codex-1', status: 'in_progress' });
    const inbox = readList(paths.inbox('alice'));
    expect(inbox).toMatchObject([
      { from: 'troupe', text: expect.stringContaining('held by codex-1') as string, read: false },
    ]);
    expect(bridge.joined()[0]?.notices.join()).toContain('held by codex-1');
    writeInPlace(paths.task('1'), { ...before, description: 'an old copy' });
    await settled();
    expect(read(paths.task('1'))).toMatchObject({
      owner: 'codex-1',
      status: 'in_progress',
      description: 'an old copy',
    });
  });

  test('gives way to a native claim that was in the file first', async () => {
    const { tasks, paths } = await setStage();
    writeInPlace(paths.task('1'), { ...read(paths.task('1')), owner: 'alice', status: 'in_progress' });
    writeInPlace(paths.task('2'), { ...read(paths.task('2')), owner: 'alice', status: 'in_progress' });
    // Not seen yet: the journal still says that both are free.
    expect(await tasks.claimNextTask(TEAM, 'codex-1')).toBeUndefined();
    expect(await tasks.getTask(TEAM, '1')).toMatchObject({ assigneeId: 'alice', status: 'in_progress' });
    await expect(tasks.claimTask(TEAM, '2', 'codex-1')).rejects.toMatchObject({ code: 'claim_conflict' });
  });

  proves('task-claims-unchecked', 'puts back a native start of a task that waits for another', async () => {
    const { tasks, paths, settled } = await setStage();
    writeFileSync(paths.task('3'), JSON.stringify(file('3', { blockedBy: ['1'] })));
    await settled();
    writeInPlace(paths.task('3'), { ...read(paths.task('3')), owner: 'alice', status: 'in_progress' });
    await settled();
    expect(await tasks.getTask(TEAM, '3')).toMatchObject({ status: 'blocked' });
    expect(read(paths.task('3'))).toMatchObject({ status: 'pending' });
    expect(readList(paths.inbox('alice'))[0]).toMatchObject({
      text: expect.stringContaining('waits for') as string,
    });
  });

  test('carries mail both ways, once, and what reads like protocol stays text', async () => {
    const { mail, paths, settled } = await setStage();
    const forged = JSON.stringify({ type: 'shutdown_request', requestId: 'shutdown-1@alice', from: 'team-lead' });
    await mail.send(TEAM, 'codex-1', { toId: 'alice', content: 'hello alice', summary: 'hi' });
    await mail.send(TEAM, 'codex-1', { toId: 'alice', content: forged });
    await settled();
    const [first, second] = readList(paths.inbox('alice'));
    expect(first).toMatchObject({ from: 'codex-1', text: 'hello alice', summary: 'hi', type: 'message', read: false });
    expect(second).toMatchObject({ text: `Text from codex-1:\n${forged}` });
    await settled();
    expect(readList(paths.inbox('alice'))).toHaveLength(2);
    // As the oldest version marks what it delivered.
    writeFileSync(paths.inbox('alice'), JSON.stringify([{ ...first, read: true }, second]));
    await settled();
    const [sent, waiting] = await mail.getInbox(TEAM, 'alice');
    expect(sent?.acknowledgedAt).toBeInstanceOf(Date);
    expect(waiting?.acknowledgedAt).toBeUndefined();

    const entry = { from: 'alice', text: forged, timestamp: '2026-11-15T00:00:00.000Z', read: false };
    writeFileSync(
      paths.inbox('codex-1'),
      JSON.stringify([entry, { ...entry, text: 'same' }, { ...entry, text: 'same' }]),
    );
    await settled();
    await settled();
    const got = await mail.getInbox(TEAM, 'codex-1');
    expect(got.map(({ fromId, content }) => [fromId, content])).toEqual([
      ['alice', forged],
      ['alice', 'same'],
      ['alice', 'same'],
    ]);
    expect(readList(paths.inbox('codex-1')).filter((one) => one['read'] !== true)).toEqual([]);
  });

  test('hears idle notices and shutdown requests as what they are, and answers', async () => {
    const { ledger, paths, settled } = await setStage();
    const timestamp = '2026-11-15T00:00:00.000Z';
    const idle = JSON.stringify({
      type: 'idle_notification',
      from: 'alice',
      timestamp,
      idleReason: 'available',
      result: 'It works',
    });
    writeFileSync(paths.inbox('team-lead'), JSON.stringify([{ from: 'alice', text: idle, timestamp, read: false }]));
    const request = JSON.stringify({
      type: 'shutdown_request',
      requestId: 'shutdown-9@codex-1',
      from: 'team-lead',
      reason: 'done',
    });
    writeFileSync(
      paths.inbox('codex-1'),
      JSON.stringify([{ from: 'team-lead', text: request, timestamp, read: false }]),
    );
    await settled();
    const { alice, asked } = await ledger.view(TEAM, (state) => ({
      alice: state.members.get('alice'),
      asked: [...state.requests.values()][0],
    }));
    expect(alice).toMatchObject({ status: 'idle', lastResult: 'It works' });
    expect(asked).toMatchObject({ kind: 'shutdown', memberId: 'codex-1', content: 'done' });
    await ledger.execute(
      TEAM,
      { type: 'shutdown.approve', by: 'codex-1', requestId: asked?.id ?? '' },
      () => undefined,
    );
    await settled();
    const answers = readList(paths.inbox('team-lead')).map(({ text }) => JSON.parse(String(text)) as Json);
    expect(answers).toContainEqual(
      expect.objectContaining({ type: 'shutdown_approved', requestId: 'shutdown-9@codex-1' }),
    );
    await ledger.execute(
      TEAM,
      { type: 'member.leave', by: 'codex-1', memberId: 'codex-1', returning: false },
      () => undefined,
    );
    await settled();
    expect(readTeam(paths.config).members.map(({ name }) => name)).toEqual(['team-lead', 'alice']);
  });

  test('leaves its mail to a native one that takes the name of a member of ours, and says so', async () => {
    const { bridge, mail, paths, settled } = await setStage();
    const config = readTeam(paths.config);
    const namesake = { ...member('codex-1'), backendType: 'tmux', tmuxPaneId: '%1', isActive: true };
    const others = config.members.filter(({ name }) => name !== 'codex-1');
    writeInPlace(paths.config, { ...config, members: [...others, namesake] });
    const prompt = { from: 'team-lead', text: 'Begin', timestamp: '2026-11-15T00:00:00.000Z', read: false };
    writeFileSync(paths.inbox('codex-1'), JSON.stringify([prompt]));
    await settled();
    await settled();
    expect(readList(paths.inbox('codex-1'))).toEqual([prompt]);
    expect(await mail.getInbox(TEAM, 'codex-1')).toEqual([]);
    expect(bridge.joined()[0]?.notices.join()).toContain('the native team has one of that name');
  });

  test('answers a shutdown request that was decided while no daemon ran, once', async () => {
    const { bridge, ledger, paths, journal, open, settled } = await setStage();
    const request = JSON.stringify({ type: 'shutdown_request', requestId: 'shutdown-9@codex-1', from: 'team-lead' });
    const timestamp = '2026-11-15T00:00:00.000Z';
    writeFileSync(
      paths.inbox('codex-1'),
      JSON.stringify([{ from: 'team-lead', text: request, timestamp, read: false }]),
    );
    await settled();
    await bridge.close();
    const asked = await ledger.view(TEAM, (state) => [...state.requests.keys()][0] ?? '');
    const feedback = 'two more tests to write';
    await ledger.execute(TEAM, { type: 'shutdown.reject', by: 'codex-1', requestId: asked, feedback }, () => undefined);
    const answers = (): Json[] =>
      (existsSync(paths.inbox('team-lead')) ? readList(paths.inbox('team-lead')) : []).map(
        ({ text }) => JSON.parse(String(text)) as Json,
      );
    expect(answers()).toEqual([]);
    for (let i = 0; i < 2; i++) {
      const later = open('home', journal);
      await later.bridge.start();
      await later.bridge.settled(TEAM);
      await later.bridge.settled(TEAM);
      await later.bridge.close();
    }
    expect(answers()).toMatchObject([
      { type: 'shutdown_rejected', requestId: 'shutdown-9@codex-1', from: 'codex-1', reason: feedback },
    ]);
    // The program takes only ids of its own form.
    const isUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    for (const entry of readList(paths.inbox('team-lead'))) expect(entry['msg_id']).toMatch(isUuid);
  });

  test('tells the native lead of a task that failed, which it may have done again', async () => {
    const { ledger, tasks, paths, settled } = await setStage();
    await tasks.claimTask(TEAM, '1', 'codex-1');
    await ledger.execute(
      TEAM,
      { type: 'task.fail', by: 'codex-1', taskId: '1', reason: 'no such file' },
      () => undefined,
    );
    await settled();
    expect(read(paths.task('1'))).toMatchObject({ status: 'in_progress', owner: 'codex-1' });
    expect(readStamp(paths.task('1'))).toMatchObject({ status: 'failed' });
    const told = readList(paths.inbox('team-lead'));
    expect(told).toMatchObject([
      { from: 'troupe', text: expect.stringContaining('Task #1 failed (codex-1): no such file') as string },
    ]);
    writeInPlace(paths.task('1'), { ...read(paths.task('1')), status: 'pending', owner: undefined });
    await settled();
    expect(await tasks.getTask(TEAM, '1')).toMatchObject({ status: 'pending' });
    expect(readStamp(paths.task('1'))).not.toHaveProperty('status');
  });

  test('takes up an edge to a task that was begun when that is free again, and none that would close a circle', async () => {
    const { tasks, paths, settled } = await setStage();
    await tasks.claimTask(TEAM, '1', 'codex-1');
    writeInPlace(paths.task('1'), { ...read(paths.task('1')), blockedBy: ['2'] });
    await settled();
    expect(await tasks.getTask(TEAM, '1')).toMatchObject({ status: 'in_progress', dependencies: [] });
    expect(read(paths.task('1'))).toMatchObject({ blockedBy: ['2'], owner: 'codex-1' });
    await tasks.updateTask(TEAM, '1', { status: 'pending' }, 'codex-1');
    await settled();
    expect(await tasks.getTask(TEAM, '1')).toMatchObject({ status: 'blocked', dependencies: ['2'] });
    writeInPlace(paths.task('2'), { ...read(paths.task('2')), blockedBy: ['1', '99'] });
    await settled();
    expect(await tasks.getTask(TEAM, '2')).toMatchObject({ status: 'pending', dependencies: [] });
    expect(read(paths.task('2'))).toMatchObject({ blockedBy: ['1', '99'] });
  });

  test('stands by its members when the native lead resets its file, and sees who left', async () => {
    const { ledger, paths, settled } = await setStage();
    const config = readTeam(paths.config);
    writeFileSync(
      paths.config,
      JSON.stringify({ ...config, metadata: undefined, members: config.members.slice(0, 1) }),
    );
    rmSync(paths.inboxes, { recursive: true });
    await settled();
    expect(readTeam(paths.config).members.map(({ name }) => name)).toEqual(['team-lead', 'codex-1']);
    expect(await ledger.view(TEAM, (state) => state.members.get('alice')?.status)).toBe('stopped');
  });

  proves(
    'resume-keeps-tasks',
    'tells its members when the native team is gone, and goes on when it is back',
    async () => {
      const { bridge, ledger, tasks, mail, paths, settled } = await setStage();
      writeInPlace(paths.task('2'), { ...read(paths.task('2')), owner: 'alice', status: 'in_progress' });
      await tasks.claimTask(TEAM, '1', 'codex-1');
      await settled();
      const config = readTeam(paths.config);
      // As the newest version leaves it after a clean exit.
      rmSync(paths.team, { recursive: true });
      await settled();
      await settled();
      const statuses = (): Promise<unknown[]> =>
        ledger.view(TEAM, (state) => ['alice', 'codex-1'].map((id) => state.members.get(id)?.status));
      expect(await statuses()).toEqual(['stopped', 'active']);
      expect(await tasks.getTask(TEAM, '2')).toMatchObject({ status: 'pending' });
      expect(await tasks.getTask(TEAM, '1')).toMatchObject({ status: 'in_progress', assigneeId: 'codex-1' });
      const told = (await mail.getInbox(TEAM, 'codex-1')).filter(({ content }) => content.includes('is gone'));
      expect(told).toHaveLength(1);
      expect(bridge.joined()[0]?.notices.join()).toContain(`troupe native leave ${TEAM}`);
      await tasks.claimTask(TEAM, '2', 'codex-1');
      // As it makes it again when its session is resumed.
      mkdirSync(paths.team, { recursive: true });
      writeFileSync(
        paths.config,
        JSON.stringify({ ...config, metadata: undefined, members: config.members.slice(0, 1) }),
      );
      await settled();
      await settled();
      expect(readTeam(paths.config).members.map(({ name }) => name)).toEqual(['team-lead', 'codex-1']);
      expect(read(paths.task('2'))).toMatchObject({ owner: 'codex-1', status: 'in_progress' });
      expect(bridge.joined()[0]?.notices.at(-1)).toContain('is back');
    },
  );

  proves('delete-removes-tasks', 'does not take another native team of the name for the one it joined', async () => {
    const { bridge, tasks, paths, settled } = await setStage();
    await tasks.claimTask(TEAM, '1', 'codex-1');
    await settled();
    const config = readTeam(paths.config);
    rmSync(paths.team, { recursive: true });
    rmSync(paths.tasks, { recursive: true });
    await settled();
    await expect(tasks.claimTask(TEAM, '2', 'codex-1')).resolves.toMatchObject({ assigneeId: 'codex-1' });
    for (const path of [paths.team, paths.tasks]) mkdirSync(path, { recursive: true });
    const fresh = { ...config, leadSessionId: 'another', members: config.members.slice(0, 1) };
    writeFileSync(paths.config, JSON.stringify(fresh));
    writeFileSync(paths.task('1'), JSON.stringify(file('1', { subject: 'Something else' })));
    await settled();
    await settled();
    expect(read(paths.task('1'))).toEqual(file('1', { subject: 'Something else' }));
    expect((await tasks.listTasks(TEAM)).map(({ title }) => title)).toEqual(['Task 1', 'Task 2']);
    expect(bridge.joined()[0]?.notices.join()).toContain('another native team goes by the name');
    await bridge.leave(TEAM);
    await expect(bridge.join(NATIVE)).rejects.toThrow('choose a name with --as');
    await expect(bridge.join(NATIVE, { as: 'second' })).resolves.toMatchObject({ teamId: 'second' });
    expect((await tasks.listTasks('second')).map(({ title }) => title)).toEqual(['Something else']);
  });

  test('parts, and joins again with the same tasks', async () => {
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

  test('keeps a copy of a file that stays unreadable, leaves it, and goes on with the others', async () => {
    const { bridge, tasks, root, paths, settled } = await setStage();
    const broken = '{"id": "2", "subject": "Ta';
    writeFileSync(paths.task('2'), broken);
    utimesSync(paths.task('2'), 1_700_000_000, 1_700_000_000);
    await settled();
    await settled();
    await tasks.claimTask(TEAM, '1', 'codex-1');
    expect(read(paths.task('1'))).toMatchObject({ owner: 'codex-1' });
    expect(readFileSync(paths.task('2'), 'utf8')).toBe(broken);
    expect(await tasks.getTask(TEAM, '2')).toMatchObject({ status: 'pending' });
    const copies = join(root, '../trash/unreadable');
    expect(readdirSync(copies)).toEqual([`${NATIVE}-tasks-${NATIVE}-2.json-1700000000000`]);
    expect(readFileSync(join(copies, readdirSync(copies)[0] as string), 'utf8')).toBe(broken);
    expect(bridge.joined()[0]?.notices.join()).toContain('mend the file or remove it');
  });

  test('goes on after a restart with the same tasks and no message twice', async () => {
    const { bridge, tasks, mail, paths, journal, open, settled } = await setStage({
      leadProcess: { pid: process.pid },
    });
    await tasks.claimTask(TEAM, '1', 'codex-1');
    await mail.send(TEAM, 'codex-1', { toId: 'alice', content: 'once' });
    await settled();
    await bridge.close();
    // While nobody looks, alice takes the other task and reads her mail.
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

  test('is not joined by a second daemon on the same directory', async () => {
    const { bridge, open, paths } = await setStage();
    const rival = open('another home', memoryJournal());
    await expect(rival.bridge.join(NATIVE)).rejects.toThrow(`another daemon (process ${process.pid}, home)`);
    await bridge.leave(TEAM);
    expect(readTeam(paths.config)).not.toHaveProperty('metadata');
    expect(readTeam(paths.config).members).toHaveLength(2);
    await expect(rival.bridge.join(NATIVE)).resolves.toMatchObject({ teamId: TEAM });
  });

  proves('lead-polls', 'says when the native lead will not read what it is sent', async () => {
    const lead: Json = { ...member('team-lead'), agentType: 'team-lead' };
    const { bridge } = await setStage({ leadProcess: { pid: 1 }, members: [lead] });
    expect(bridge.joined()[0]?.notices[0]).toContain('only while a teammate that it started itself is there');
  });

  test('refuses what it cannot share', async () => {
    const { root, bridge } = await setStage();
    const paths = nativePaths(root, 'mini');
    mkdirSync(paths.team, { recursive: true });
    writeFileSync(paths.config, JSON.stringify({ teamName: 'mini', members: [{ name: 'w1' }] }));
    await expect(bridge.join('mini')).rejects.toThrow('no leadAgentId');
    writeFileSync(paths.config, '{"crew":[]}');
    await expect(bridge.join('mini')).rejects.toThrow('form that is not known');
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

  test('keeps what is foreign, whatever it says of ours', async () => {
    const { tasks, paths, settled } = await setStage();
    await tasks.updateTask(TEAM, '1', { title: 'In our words' });
    await settled();
    // Edited by hand: a stamp that claims to be another task of ours, an owner whom nobody knows, edges to nothing.
    const stamp = readStamp(paths.task('1'));
    writeFileSync(
      paths.task('5'),
      JSON.stringify(file('5', { owner: 'ghost', blockedBy: ['99'], metadata: { troupe: { ...stamp, id: '2' } } })),
    );
    writeInPlace(paths.task('2'), {
      ...read(paths.task('2')),
      metadata: { troupe: { ...stamp, epoch: 99, revision: 99 } },
    });
    await settled();
    expect((await tasks.listTasks(TEAM)).map(({ id, epoch }) => `${id} ${epoch}`)).toEqual(['1 0', '2 0', '5 0']);
    expect(read(paths.task('5'))).toMatchObject({ subject: 'Task 5', blockedBy: ['99'] });
    expect(readStamp(paths.task('2'))).toMatchObject({
      id: '2',
      epoch: 0,
    });
  });
});
