import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeInPlace } from './foreign.ts';
import { proves } from './requirements.ts';
import { NATIVE, TEAM, addMember, file, member, read, readList, readStamp, setStage } from './stage.ts';
import type { Json } from './stage.ts';

describe('the tasks of a team that joined a native one', () => {
  test('have the same numbers, even if the owner of one is not known yet', async () => {
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

  test.each([
    ['reserved', 'pending', { status: 'pending', assigneeId: 'alice', reserved: true }],
    ['taken', 'in_progress', { status: 'in_progress', assigneeId: 'alice' }],
  ] as const)(
    'go to the native that has one %s, if a member of ours claims it at the same time',
    async (_, status, then) => {
      const { ledger, tasks, paths, settled } = await setStage();
      const execute = ledger.execute.bind(ledger);
      let claim: Promise<unknown> | undefined;
      // The claim comes after the file was read and before the resulting command.
      ledger.execute = (teamId, commands, pick) => {
        const [first] = [commands].flat();
        const isFromFile = first?.type === 'task.assign' || (first?.type === 'task.claim' && first.by === 'alice');
        if (isFromFile) claim ??= tasks.claimNextTask(TEAM, 'codex-1');
        return execute(teamId, commands, pick);
      };
      writeInPlace(paths.task('1'), { ...read(paths.task('1')), owner: 'alice', status });
      await settled();
      expect(await claim).toMatchObject({ id: '2', status: 'in_progress', assigneeId: 'codex-1' });
      await settled();
      expect(await tasks.getTask(TEAM, '1')).toMatchObject(then);
      expect(read(paths.task('1'))).toMatchObject({ owner: 'alice', status });
      expect(existsSync(paths.inbox('alice')) ? readList(paths.inbox('alice')) : []).toEqual([]);
    },
  );

  test('are withheld for an owner that is not listed yet', async () => {
    const { bridge, ledger, tasks, paths, settled } = await setStage();
    writeInPlace(paths.task('1'), { ...read(paths.task('1')), owner: 'carol' });
    // The mirror has not seen it yet: only the file shows the owner.
    writeInPlace(paths.task('2'), { ...read(paths.task('2')), owner: 'dave', status: 'in_progress' });
    expect(await tasks.claimNextTask(TEAM, 'codex-1')).toBeUndefined();
    writeFileSync(paths.task('3'), JSON.stringify(file('3', { owner: 'codex-2' })));
    await settled();
    const shown = [
      { owner: 'carol', status: 'pending' },
      { owner: 'dave', status: 'in_progress' },
      { owner: 'codex-2', status: 'pending' },
    ];
    expect(['1', '2', '3'].map((id) => read(paths.task(id)))).toMatchObject(shown);
    expect(await tasks.claimNextTask(TEAM, 'codex-1')).toBeUndefined();
    await expect(tasks.claimTask(TEAM, '3', 'codex-1')).rejects.toMatchObject({ code: 'blocked' });
    await settled();
    expect(['1', '2', '3'].map((id) => read(paths.task(id)))).toMatchObject(shown);
    expect(bridge.joined()[0]?.notices.join()).toContain('its owner "carol" is not on this team yet');

    const config = read(paths.config) as { members: Json[] };
    writeInPlace(paths.config, { ...config, members: [...config.members, member('carol'), member('dave')] });
    await addMember(ledger, 'codex-2');
    await settled();
    expect(await tasks.getTask(TEAM, '1')).toMatchObject({ status: 'pending', assigneeId: 'carol' });
    expect(await tasks.getTask(TEAM, '2')).toMatchObject({ status: 'in_progress', assigneeId: 'dave' });
    expect(await tasks.claimNextTask(TEAM, 'codex-1')).toBeUndefined();
    expect(await tasks.claimNextTask(TEAM, 'codex-2')).toMatchObject({ id: '3' });
    expect(['1', '2', '3'].map((id) => read(paths.task(id)))).toMatchObject([
      ...shown.slice(0, 2),
      { owner: 'codex-2', status: 'in_progress' },
    ]);
    expect((await tasks.getTask(TEAM, '1'))?.metadata).toEqual({ native: { id: '1' } });
  });

  test('are free again if the file names no owner, a person reassigns them, or the owner came and left', async () => {
    const { ledger, journal, open, bridge, tasks, paths, settled } = await setStage();
    for (const id of ['1', '2']) writeInPlace(paths.task(id), { ...read(paths.task(id)), owner: 'carol' });
    for (const id of ['3', '4']) writeFileSync(paths.task(id), JSON.stringify(file(id, { owner: 'dave' })));
    await settled();
    writeInPlace(paths.task('1'), { ...read(paths.task('1')), owner: undefined });
    await settled();
    expect(await tasks.claimNextTask(TEAM, 'codex-1')).toMatchObject({ id: '1' });
    await tasks.updateTask(TEAM, '2', { assigneeId: 'codex-1' });
    await settled();
    expect(read(paths.task('2'))).toMatchObject({ owner: 'codex-1', status: 'pending' });
    expect(await tasks.claimNextTask(TEAM, 'codex-1')).toMatchObject({ id: '2' });
    writeInPlace(paths.task('4'), { ...read(paths.task('4')), status: 'completed' });
    await settled();
    expect(await tasks.getTask(TEAM, '4')).toMatchObject({ status: 'completed' });

    // The next daemon knows it too.
    await bridge.close();
    await ledger.close();
    const next = open('home', journal);
    await next.bridge.start();
    await next.bridge.settled(TEAM);
    expect(await next.tasks.claimNextTask(TEAM, 'codex-1')).toBeUndefined();
    const config = read(paths.config) as { members: Json[] };
    writeInPlace(paths.config, { ...config, members: [...config.members, member('dave')] });
    next.bridge.sight().list();
    await next.bridge.settled(TEAM);
    expect(await next.tasks.getTask(TEAM, '3')).toMatchObject({ assigneeId: 'dave', status: 'pending' });
    writeInPlace(paths.config, config);
    next.bridge.sight().list();
    await next.bridge.settled(TEAM);
    expect(await next.tasks.claimNextTask(TEAM, 'codex-1')).toMatchObject({ id: '3' });
  });

  test('share every step, for native members and for ours', async () => {
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

  proves('task-no-lock', 'are repaired after a stale overwrite of a claim, and the loser is told', async () => {
    const { bridge, tasks, paths, settled } = await setStage();
    const before = read(paths.task('1'));
    await tasks.claimTask(TEAM, '1', 'codex-1');
    await settled();
    // The writer read the file before our claim, and writes it after that, without a lock.
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

  proves('task-internal', 'are those that people see, without internal tasks that stand for teammates', async () => {
    const { tasks, paths, settled } = await setStage();
    const internal = file('3', { subject: 'alice', status: 'in_progress', metadata: { _internal: true } });
    writeFileSync(paths.task('3'), JSON.stringify(internal));
    writeFileSync(paths.task('4'), JSON.stringify(file('4')));
    await settled();
    expect((await tasks.listTasks(TEAM)).map(({ id }) => id)).toEqual(['1', '2', '4']);
    expect(read(paths.task('3'))).toEqual(internal);
  });

  test('go to a native claim that was in the file first', async () => {
    const { tasks, paths } = await setStage();
    writeInPlace(paths.task('1'), { ...read(paths.task('1')), owner: 'alice', status: 'in_progress' });
    writeInPlace(paths.task('2'), { ...read(paths.task('2')), owner: 'alice', status: 'in_progress' });
    // The mirror has not seen it yet: in the journal both are free.
    expect(await tasks.claimNextTask(TEAM, 'codex-1')).toBeUndefined();
    expect(await tasks.getTask(TEAM, '1')).toMatchObject({ assigneeId: 'alice', status: 'in_progress' });
    await expect(tasks.claimTask(TEAM, '2', 'codex-1')).rejects.toMatchObject({ code: 'claim_conflict' });
  });

  proves('task-claims-unchecked', 'go back to pending if a native member starts them while blocked', async () => {
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

  test('are reported to the native lead if they fail, and it may reopen them', async () => {
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

  test('get a new dependency of a started task when it is free again, and none that would close a cycle', async () => {
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

  test('with an unreadable file are skipped, and the file is copied and not changed', async () => {
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
    expect(bridge.joined()[0]?.notices.join()).toContain('fix the file or remove it');
  });

  test('keep foreign fields, whatever these claim', async () => {
    const { tasks, paths, settled } = await setStage();
    await tasks.updateTask(TEAM, '1', { title: 'In our words' });
    await settled();
    // Edited by hand: a stamp with the id of another task, an unknown owner, edges to missing tasks.
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

  test('F56: follow the journal, whatever is edited into their files by hand', async () => {
    const { bridge, tasks, mail, paths, settled } = await setStage();
    await tasks.claimTask(TEAM, '1', 'codex-1');
    await mail.send(TEAM, 'codex-1', { toId: 'alice', content: 'for alice' });
    await settled();
    const sed = (path: string, ...edits: string[]): void => {
      execFileSync('sed', ['-i', ...edits.flatMap((edit) => ['-e', edit]), path]);
    };
    const [task] = await tasks.listTasks(TEAM);
    sed(
      paths.task('1'),
      's/"epoch": [0-9]*/"epoch": 99/',
      's/"revision": [0-9]*/"revision": 999/',
      's/"owner": "codex-1"/"owner": "alice"/',
    );
    // A stamp of the other task, and an invalid stamp.
    sed(paths.task('2'), 's/"status": "pending"/"status": "in_progress", "owner": "alice", "metadata": {"troupe": 7}/');
    await settled();
    await settled();
    expect(await tasks.getTask(TEAM, '1')).toMatchObject({ assigneeId: 'codex-1', epoch: task?.epoch });
    expect(read(paths.task('1'))).toMatchObject({ owner: 'codex-1', status: 'in_progress' });
    expect(readStamp(paths.task('1'))).toMatchObject({ epoch: task?.epoch });
    expect(bridge.joined()[0]?.notices.join()).toContain('held by codex-1');
    // A claim without our stamp is handled like any other.
    expect(await tasks.getTask(TEAM, '2')).toMatchObject({ assigneeId: 'alice', status: 'in_progress' });
    await expect(tasks.completeTask(TEAM, '1', 'codex-1', { epoch: 99 })).rejects.toMatchObject({
      code: 'stale_epoch',
    });
    // The journal knows what was delivered: an edited entry is neither delivered again nor counted as read.
    sed(paths.inbox('alice'), 's/for alice/for nobody/', 's/"timestamp": "20/"timestamp": "19/');
    await settled();
    expect(readList(paths.inbox('alice')).filter(({ text }) => String(text).startsWith('for '))).toHaveLength(1);
    const [message] = await mail.getInbox(TEAM, 'alice');
    expect(message).toMatchObject({ content: 'for alice', fromId: 'codex-1' });
    expect(message?.acknowledgedAt).toBeUndefined();
  });
});
