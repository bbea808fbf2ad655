import { existsSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { HANG_MS } from '../until.ts';
import { holdLock, writeInPlace } from './foreign.ts';
import { addMember, file, member, read, readTeam, setStage, TEAM } from './stage.ts';
import type { Json } from './stage.ts';

const lead: Json = { ...member('team-lead'), agentType: 'team-lead' };
const THREE = { members: [lead, member('alice'), member('bob')] };

/** The time of waiting for locks, which the test advances. */
function lockTime(): { now: () => number; pass: (ms: number) => void } {
  let passed = 0;
  return { now: () => performance.now() + passed, pass: (ms) => (passed += ms) };
}

describe('a problem with one part of a native team', () => {
  const large = `[{"text":"${'x'.repeat(17 * 1024 * 1024)}"}]`;
  test.for([
    ['no list', '{"not":"a list"}'],
    ['half a list', '[{"from'],
    ['too large', large],
  ])('does not affect messages of others: an inbox that is %s', async ([, text]) => {
    const { bridge, mail, paths, settled } = await setStage(THREE);
    writeFileSync(paths.inbox('alice'), text as string);
    await mail.send(TEAM, 'codex-1', { toId: 'alice', content: 'to alice' });
    await mail.send(TEAM, 'codex-1', { toId: 'bob', content: 'to bob' });
    await settled();
    expect(readFileSync(paths.inbox('bob'), 'utf8')).toContain('to bob');
    expect(bridge.joined()[0]?.notices.filter((one) => one.includes('alice.json'))).toHaveLength(1);
    // After a repair it gets the waiting messages, and the notice is gone.
    writeFileSync(paths.inbox('alice'), '[]');
    await expect.poll(() => readFileSync(paths.inbox('alice'), 'utf8')).toContain('to alice');
    await settled();
    expect(bridge.joined()[0]?.notices.join()).not.toContain('alice.json');
  });

  test('does not affect messages of others: a member whose name cannot be a file name', async () => {
    const { bridge, ledger, mail, paths, settled } = await setStage({
      members: [lead, member('Jürgen'), member('../../x'), member('alice')],
    });
    const ids = await ledger.view(TEAM, (state) => [...state.members.keys()].filter((id) => id !== 'codex-1'));
    for (const toId of ids) await mail.send(TEAM, 'codex-1', { toId, content: `to ${toId}` });
    await settled();
    expect(readFileSync(paths.inbox('alice'), 'utf8')).toContain('to alice');
    expect(bridge.joined()[0]?.notices.join()).toContain('cannot be the name of a native member');
  });

  test('does not affect the repair of a task: an owner that cannot get a message', async () => {
    const { paths, settled } = await setStage();
    writeFileSync(paths.task('3'), JSON.stringify(file('3', { blockedBy: ['1'] })));
    await settled();
    writeInPlace(paths.task('3'), { ...read(paths.task('3')), owner: '../../../evil', status: 'in_progress' });
    await settled();
    expect(read(paths.task('3'))).toMatchObject({ status: 'pending' });
    expect(readFileSync(paths.inbox('team-lead'), 'utf8')).toContain('put back');
  });

  test('does not affect messages and tasks: a team file that stays locked', async () => {
    const { now, pass } = lockTime();
    const { bridge, ledger, mail, tasks, paths } = await setStage(
      {},
      { files: { now, longest: HANG_MS, stale: 2 * HANG_MS } },
    );
    const lock = holdLock(paths.config);
    await addMember(ledger, 'codex-2');
    await mail.send(TEAM, 'codex-1', { toId: 'alice', content: 'to alice' });
    writeInPlace(paths.task('2'), { ...read(paths.task('2')), owner: 'alice', status: 'in_progress' });
    await expect.poll(() => existsSync(paths.inbox('alice'))).toBe(true);
    await expect.poll(() => tasks.getTask(TEAM, '2')).toMatchObject({ assigneeId: 'alice' });
    // Until then the mirror waited for the lock.
    expect(bridge.joined()[0]?.notices).toEqual([]);
    pass(HANG_MS + 1);
    await expect.poll(() => bridge.joined()[0]?.notices.join()).toContain('config.json has been locked');
    expect(readFileSync(paths.config, 'utf8')).not.toContain('codex-2');
    rmdirSync(lock);
    await expect.poll(() => readFileSync(paths.config, 'utf8')).toContain('codex-2');
  });

  test('does not affect other tasks: an empty file, an unknown status', async () => {
    const { tasks, paths, settled } = await setStage();
    writeFileSync(paths.task('1'), JSON.stringify(file('1', { status: 'cancelled' })));
    writeFileSync(paths.task('2'), '');
    writeFileSync(paths.task('4'), JSON.stringify(file('4')));
    await settled();
    expect((await tasks.listTasks(TEAM)).map(({ id, status }) => `${id} ${status}`)).toEqual([
      '1 pending',
      '2 pending',
      '4 pending',
    ]);
  });

  test.for(['locked', 'half written'])('releases a claim: a file that is %s', async (what) => {
    const { ledger, tasks, paths } = await setStage({}, { files: { settle: 20, longest: 100 } });
    const before = readFileSync(paths.task('1'), 'utf8');
    if (what === 'locked') holdLock(paths.task('1'));
    else writeFileSync(paths.task('1'), before.slice(0, 20));
    await expect(tasks.claimTask(TEAM, '1', 'codex-1')).rejects.toThrow('1.json');
    const task = await ledger.view(TEAM, (state) => state.tasks.get('1'));
    expect(task).toMatchObject({ status: 'pending', epoch: 2 });
    expect(task?.assigneeId).toBeUndefined();
    expect(readFileSync(paths.task('1'), 'utf8')).not.toContain('codex-1');
    await expect(tasks.claimTask(TEAM, '2', 'codex-1')).resolves.toMatchObject({ assigneeId: 'codex-1' });
  });

  test.for(['half written', 'no task', 'beside what is no lock'])(
    'gives out the next task instead: a file that is %s; and gives this one out after its repair',
    async (what) => {
      const { bridge, ledger, tasks, paths, journal, open, settled } = await setStage();
      const before = readFileSync(paths.task('1'), 'utf8');
      if (what === 'half written') writeFileSync(paths.task('1'), before.slice(0, 20));
      if (what === 'no task') writeFileSync(paths.task('1'), '{"crew":[]}');
      if (what === 'beside what is no lock') writeFileSync(`${paths.task('1')}.lock`, '');
      const once = { commandId: crypto.randomUUID() };
      expect(await tasks.claimNextTask(TEAM, 'codex-1', once)).toMatchObject({ id: '2', assigneeId: 'codex-1' });
      // The answer was lost, and the call is retried.
      expect(await tasks.claimNextTask(TEAM, 'codex-1', once)).toMatchObject({ id: '2', assigneeId: 'codex-1' });
      expect(await tasks.claimNextTask(TEAM, 'codex-1')).toBeUndefined();
      const epoch = await ledger.view(TEAM, (state) => state.tasks.get('1')?.epoch);
      expect(bridge.joined()[0]?.notices.join()).toContain('task 1 is withheld');
      await settled();
      await bridge.close();
      // The next daemon knows it too, and does not try again.
      const later = open('home', journal);
      await later.bridge.start();
      await later.bridge.settled(TEAM);
      expect(await later.tasks.claimNextTask(TEAM, 'codex-1')).toBeUndefined();
      const withheld = 'its native file cannot be written';
      expect(await later.tasks.getTask(TEAM, '1')).toMatchObject({ status: 'blocked', withheld, epoch });
      let isWoken = false;
      later.tasks.on('task:updated', () => (isWoken = true));
      if (what === 'beside what is no lock') unlinkSync(`${paths.task('1')}.lock`);
      else writeFileSync(paths.task('1'), before);
      await expect.poll(() => isWoken).toBe(true);
      expect(await later.tasks.claimNextTask(TEAM, 'codex-1')).toMatchObject({ id: '1' });
      expect(read(paths.task('1'))).toMatchObject({ owner: 'codex-1' });
    },
  );

  test('does not affect the members of another home', async () => {
    const { bridge, ledger, paths, settled } = await setStage();
    const config = readTeam(paths.config);
    const theirs = { ...member('theirs'), metadata: { troupe: { home: 'another' } } };
    writeInPlace(paths.config, { ...config, members: [...config.members, theirs] });
    await settled();
    expect(readTeam(paths.config).members.map(({ name }) => name)).toContain('theirs');
    expect(await ledger.view(TEAM, (state) => state.members.has('theirs'))).toBe(true);
    await bridge.leave(TEAM);
    expect(readTeam(paths.config).members.map(({ name }) => name)).toEqual(['team-lead', 'alice', 'theirs']);
  });
});
