import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { endMarked, findMarked, identify, isRunning, startProcess } from '../../src/agents/process.ts';
import { SYSTEM, USER } from '../../src/core/actor.ts';
import { TeamError } from '../../src/core/errors.ts';
import { JoinInput } from '../../src/core/member.ts';
import { CreateTaskInput } from '../../src/core/task.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { Mailbox } from '../../src/ledger/mailbox.ts';
import { keepLeads } from '../../src/runtime/lead-keeper.ts';
import { MemberProcesses } from '../../src/runtime/member-processes.ts';
import { openProcessRecords } from '../../src/runtime/process-records.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import { teammateArguments } from '../../src/runtime/teammate-command.ts';
import { openLedger } from '../ledger/places.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

describe('a process', () => {
  test('is identified by more than its pid', async () => {
    const child = spawn('sleep', ['1011'], { stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    const identity = identify(child.pid as number);
    expect(isRunning(identity)).toBe(true);
    expect(isRunning({ ...identity, startTime: '1' })).toBe(false);
    expect(isRunning({ ...identity, bootId: 'another' })).toBe(false);
    child.kill('SIGKILL');
    await until('it is gone', () => !isRunning(identity));
  });

  test('F9: counts as ended if it is a zombie, and stopping it does not hang', async () => {
    const parent = spawn('sh', ['-c', 'sleep 0.01 & echo $!; exec sleep 1018'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(line.toString());
    const identity = identify(pid);
    await until('it is a zombie', () => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z '));
    expect(isRunning(identity)).toBe(false);
    const records = openProcessRecords(temporaryFolder());
    const processes = new MemberProcesses({
      records,
      launch: () => Promise.reject(new Error('nothing is launched')),
      onStarted: () => {},
      onEnded: async () => {},
    });
    const record = { id: 'member-z', teamId: 'demo', memberId: 'z', startedAt: new Date().toISOString(), identity };
    records.write(record);
    expect(processes.adopt(record)).toBe(false);
    await processes.clear(record);
    expect(records.list()).toEqual([]);
    processes.close();
  });

  test('F8: is not signalled once another process has its pid', async () => {
    const stranger = spawn('sleep', ['1019'], { stdio: 'ignore', detached: true });
    onTestFinished(() => void stranger.kill('SIGKILL'));
    let ended = '';
    const processes = new MemberProcesses({
      records: openProcessRecords(temporaryFolder()),
      launch: () => Promise.reject(new Error('nothing is launched')),
      onStarted: () => {},
      onEnded: async (_process, { how }) => void (ended = how),
    });
    const about = { id: 'member-y', teamId: 'demo', memberId: 'y', startedAt: new Date().toISOString() };
    const identity = { ...identify(stranger.pid as number) };
    expect(processes.adopt({ ...about, identity })).toBe(true);
    // It has ended since we last looked, and its pid was given away.
    identity.startTime = '1';
    await Promise.all([processes.fail('demo', 'y', 'it hangs'), processes.stop('demo', 'y')]);
    expect(ended).toBe('it hangs');
    await processes.clear({ ...about, identity });
    expect(isRunning(identify(stranger.pid as number))).toBe(true);
    processes.close();
  });

  test('is ended with all its children, even those that left its group', async () => {
    const marker = `test-${crypto.randomUUID()}`;
    const script = 'trap "" TERM; setsid sleep 1012 & (setsid sleep 1013 &) ; while :; do sleep 1; done';
    const running = await startProcess({
      command: ['sh', '-c', script],
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '' },
      marker,
    });
    onTestFinished(async () => void (await endMarked(marker)));
    await until('all are there', () => findMarked(marker).length >= 3);
    expect(await running.stop(200)).toBe('killed');
    expect(findMarked(marker)).toEqual([]);
  });
});

describe('a supervisor', () => {
  test('starts one process for a member, recorded before its start, and ends it when the member leaves', async () => {
    const stage = await setStage();
    const seen: string[][] = [];
    stage.supervisor.on('process:started', () => seen.push(readdirSync(stage.folder)));
    await stage.supervisor.start();
    await stage.join('worker');
    const { identity } = await stage.running('worker');
    expect(seen).toEqual([[expect.stringMatching(/^member-.*\.json$/)]]);
    expect(stage.launched).toEqual(['worker']);
    await stage.leave('worker');
    await until('it is gone', () => identity && !isRunning(identity));
    await until('so is its record', () => stage.records.list().length === 0);
    expect(stage.failures).toEqual([]);
  });

  test('restarts a member that came back while its process was still ending', async () => {
    // The first process ends when the test says so, and not before.
    const [ready, asked, end] = ['ready', 'asked', 'end'].map((name) => join(temporaryFolder(), name)) as [
      string,
      string,
      string,
    ];
    const first = `trap 'touch ${asked}' TERM; touch ${ready}; until [ -e ${end} ]; do sleep 0.02; done`;
    const stage = await setStage(`[ -e ${ready} ] && exec sleep 1017; ${first}`);
    await stage.supervisor.start();
    await stage.join('worker');
    const { id, identity } = await stage.running('worker');
    await until('it is ready', () => existsSync(ready));
    await stage.leave('worker');
    await until('it was asked to end', () => existsSync(asked));
    await stage.join('worker');
    writeFileSync(end, '');
    await until('another process runs', () => stage.supervisor.list('demo').some((other) => other.id !== id));
    expect(identity && isRunning(identity)).toBe(false);
  });

  test('takes over running processes that are needed, ends the others, and starts missing ones', async () => {
    const journal = memoryJournal();
    const before = await setStage(undefined, { journal });
    await before.supervisor.start();
    for (const name of ['stays', 'leaves', 'dies']) await before.join(name);
    const [stays, leaves, dies] = [
      await before.running('stays'),
      await before.running('leaves'),
      await before.running('dies'),
    ];
    await before.supervisor.close({ end: false });
    process.kill(dies.identity?.pid as number, 'SIGKILL');
    await until('it is gone', () => dies.identity && !isRunning(dies.identity));
    const after = await setStage(undefined, { journal, folder: before.folder, create: false });
    await after.leave('leaves');
    await after.supervisor.start();
    expect(leaves.identity && isRunning(leaves.identity)).toBe(false);
    expect(after.supervisor.list('demo').map(({ id }) => id)).toEqual([stays.id]);
    expect((await after.running('dies')).id).not.toBe(dies.id);
    expect(after.launched).toEqual(['dies']);
    await after.supervisor.close({ end: true });
    expect(stays.identity && isRunning(stays.identity)).toBe(false);
    expect(after.records.list()).toEqual([]);
  });

  test('restarts a member that was stopped and came back between the take-over of its process and the first look', async () => {
    const journal = memoryJournal();
    const before = await setStage(undefined, { journal });
    await before.supervisor.start();
    for (const name of ['worker', 'dies']) await before.join(name);
    const [worker, dies] = [await before.running('worker'), await before.running('dies')];
    await before.supervisor.close({ end: false });
    // The supervisor writes its death down before it watches, and that waits for the changes below.
    process.kill(dies.identity?.pid as number, 'SIGKILL');
    await until('it is gone', () => dies.identity && !isRunning(dies.identity));
    const after = await setStage(undefined, { journal, folder: before.folder, create: false });
    const changes: Promise<unknown>[] = [];
    after.supervisor.once('process:started', () => changes.push(after.leave('worker'), after.join('worker')));
    await after.supervisor.start();
    await Promise.all(changes);
    expect(changes).toHaveLength(2);
    await until('another process runs', () =>
      after.supervisor.list('demo').some(({ id, memberId }) => memberId === 'worker' && id !== worker.id),
    );
    expect(worker.identity && isRunning(worker.identity)).toBe(false);
    expect(after.failures).toEqual([]);
  });

  test('starts no member twice whose record was lost, and gives back what one holds that is gone without a trace', async () => {
    const journal = memoryJournal();
    // A shell with the arguments of a teammate, which it keeps while its child runs.
    const before = await setStage('sleep 1034; :', { journal });
    await before.supervisor.start();
    const names = ['deleted', 'truncated', 'garbage', 'gone'];
    for (const name of names) await before.join(name);
    const [deleted, truncated, garbage, gone] = await Promise.all(names.map((name) => before.running(name)));
    for (const name of names) await before.claim(name);
    // A shell that is killed before it has started its child would leave nothing behind.
    await until('its child runs', () => findMarked(gone?.id ?? '').length === 2);
    await before.supervisor.close({ end: false });
    const pathOf = ({ id }: { id: string } = { id: '' }): string => join(before.folder, `${id}.json`);
    rmSync(pathOf(deleted));
    writeFileSync(pathOf(truncated), readFileSync(pathOf(truncated), 'utf8').slice(0, 40));
    writeFileSync(pathOf(garbage), '\0\0\0');
    rmSync(pathOf(gone));
    // A shell that is killed before it has forked leaves no child.
    await until('it has a child', () => findMarked(gone?.id ?? '').length === 2);
    process.kill(gone?.identity?.pid as number, 'SIGKILL');
    await until('only its child is left', () => findMarked(gone?.id ?? '').length === 1);
    // A child that has not started its own program yet looks like the shell.
    await until('that is no teammate', () => before.records.strays().join() === gone?.id);

    const after = await setStage(undefined, { journal, folder: before.folder, create: false });
    await after.supervisor.start();
    expect(findMarked(gone?.id ?? '')).toEqual([]);
    const ids = [deleted, truncated, garbage].map((record) => record?.id ?? '').sort();
    expect(
      after.supervisor
        .list('demo')
        .map(({ id }) => id)
        .sort(),
    ).toEqual(ids);
    expect(readdirSync(before.folder).sort()).toEqual(ids.map((id) => `${id}.json`));
    await after.running('gone');
    expect(after.launched).toEqual(['gone']);
    expect(await after.heldBy()).toEqual(['deleted', 'garbage', 'truncated']);
  });

  test('counts a SIGTERM that it did not send as a crash, and its own as a normal end', async () => {
    const stage = await setStage();
    const crashed: { reason: string; restartsIn: number | undefined }[] = [];
    stage.supervisor.on('session:failed', (failure) => crashed.push(failure));
    await stage.supervisor.start();
    await stage.join('worker');
    const first = await stage.running('worker');
    process.kill(first.identity?.pid as number, 'SIGTERM');
    await until('another process runs', () => stage.supervisor.list('demo').some(({ id }) => id !== first.id));
    expect(crashed).toMatchObject([{ reason: 'ended by SIGTERM', restartsIn: 250 }]);
    expect(await stage.supervisor.stop('demo', 'worker')).toBe('terminated');
    expect(crashed).toHaveLength(1);
  });

  test('remembers across a restart how often a member crashed', async () => {
    const journal = memoryJournal();
    const before = await setStage('exit 9', { journal });
    const restarts: (number | undefined)[] = [];
    before.supervisor.on('session:failed', ({ restartsIn }) => restarts.push(restartsIn));
    await before.supervisor.start();
    await before.join('worker');
    await until('it was started again', () => restarts.length === 2);
    await before.supervisor.close({ end: false });
    const after = await setStage('exit 9', { journal, folder: before.folder, create: false });
    after.supervisor.on('session:failed', ({ restartsIn }) => restarts.push(restartsIn));
    await after.supervisor.start();
    await until('it is given up', () => restarts.at(-1) === undefined);
    expect(restarts).toEqual([250, 500, 1_000, undefined]);
    expect(await after.ledger.view('demo', ({ members }) => members.get('worker')?.returning)).toBeUndefined();
  });

  test('stops for good also a member that waits for its restart', async () => {
    const journal = memoryJournal();
    const before = await setStage('exit 9', { journal });
    await before.supervisor.start();
    await before.join('worker');
    const isReturning = () => before.ledger.view('demo', ({ members }) => members.get('worker')?.returning === true);
    await until('it is to come back', isReturning);
    expect(await before.supervisor.close({ end: true })).toBe(true);
    expect(await isReturning()).toBe(false);
    const after = await setStage(undefined, { journal, folder: before.folder, create: false });
    await after.supervisor.start();
    await after.join('other');
    await after.running('other');
    expect(after.launched).toEqual(['other']);
  });

  test('does not bring back a member that a person stopped while it waited for its restart', async () => {
    const stage = await setStage('exit 9');
    const failed: string[] = [];
    stage.supervisor.on('session:failed', ({ memberId }) => failed.push(memberId));
    await stage.supervisor.start();
    await stage.join('worker');
    await until('it is to come back', () => failed.includes('worker'));
    await stage.leave('worker');
    // Its pause is as long, and begins later: once it was started again, the other one would have been.
    await stage.join('other');
    await until('another one came back', () => failed.filter((one) => one === 'other').length === 2);
    expect(stage.launched.filter((one) => one === 'worker')).toEqual(['worker']);
    expect(stage.failures).toEqual([]);
  });

  test('F3: a new lead gets the state of the team, and its process restarts', async () => {
    const stage = await setStage();
    const leads = keepLeads(stage, (error) => stage.failures.push(error));
    onTestFinished(() => leads.close());
    await stage.supervisor.start();
    await stage.join('ann');
    await stage.join('bob');
    const [ann, bob] = [await stage.running('ann'), await stage.running('bob')];
    const task = CreateTaskInput.parse({ title: 'Left open' });
    const change = { type: 'team.update', by: USER, leadId: 'ann' } as const;
    await stage.ledger.execute('demo', [{ type: 'task.create', by: USER, ...task }, change], () => undefined);
    await until('another process runs', () =>
      stage.supervisor.list('demo').some(({ id, memberId }) => memberId === 'ann' && id !== ann.id),
    );
    const [told] = await stage.mailbox.getInbox('demo', 'ann');
    expect(told).toMatchObject({ fromId: SYSTEM, type: 'system' });
    expect(told?.content).toContain('#1 [pending] Left open');
    expect(stage.supervisor.list('demo').find(({ memberId }) => memberId === 'bob')?.id).toBe(bob.id);
    expect(stage.failures).toEqual([]);
  });

  test('F3: the next daemon carries out a change of the lead that this one did not live to, and only once', async () => {
    const journal = memoryJournal();
    const lead = (leadId: string) => ({ type: 'team.update', by: USER, leadId }) as const;
    const before = await setStage(undefined, { journal });
    await before.supervisor.start();
    await before.join('ann');
    const { id: first } = await before.running('ann');
    await before.ledger.execute('demo', lead('ann'), () => undefined);
    await before.supervisor.close({ end: false });
    const open = async () => {
      const stage = await setStage(undefined, { journal, folder: before.folder, create: false });
      const leads = keepLeads(stage, (error) => stage.failures.push(error));
      onTestFinished(() => leads.close());
      await stage.supervisor.start();
      await leads.start();
      return stage;
    };

    const next = await open();
    await until('another process of the new lead runs', () =>
      next.supervisor.list('demo').some(({ id }) => id !== first),
    );
    await next.supervisor.close({ end: false });
    // It carries out a later change, and nothing of the first one.
    const last = await open();
    await last.join('bob');
    const { id: second } = await last.running('bob');
    // To name the present lead again changes nothing.
    for (const name of ['ann', 'bob']) await last.ledger.execute('demo', lead(name), () => undefined);
    await until('another process of the last lead runs', () =>
      last.supervisor.list('demo').some(({ id, memberId }) => memberId === 'bob' && id !== second),
    );
    // The former lead is a teammate now, and its process learns that too.
    await until('another process of the former lead runs', () => last.launched.includes('ann'));
    expect([before, next, last].map(({ launched }) => launched.toSorted())).toEqual([
      ['ann'],
      ['ann'],
      ['ann', 'bob', 'bob'],
    ]);
    for (const name of ['ann', 'bob']) expect(await last.mailbox.getInbox('demo', name)).toHaveLength(1);
    expect([...next.failures, ...last.failures]).toEqual([]);
  });

  test('ends the children of a dead process before its tasks are released', async () => {
    const stage = await setStage('setsid sleep 1014 & sleep 1015');
    await stage.supervisor.start();
    await stage.join('worker');
    const { id, identity } = await stage.running('worker');
    await until('its child is there', () => findMarked(id).length >= 3);
    const left: number[] = [];
    stage.ledger.subscribe((_team, { events }) => {
      if (events.some(({ type }) => type === 'teammate:stopped')) left.push(findMarked(id).length);
    });
    process.kill(identity?.pid as number, 'SIGKILL');
    await until('it is told', () => left.length > 0);
    expect(left).toEqual([0]);
  });

  test('looks again after a start that the journal or a person made fail', async () => {
    const stage = await setStage();
    await stage.supervisor.start();
    const again: Promise<void>[] = [];
    // After the supervisor, which has asked to place the member by then.
    stage.ledger.subscribe((_teamId, { events }) => {
      for (const event of events) {
        if (event.type === 'teammate:stopped' && again.length === 0) again.push(stage.join('returns'));
        if (event.type === 'teammate:joined' && event.memberId === 'waits') stage.breakJournal(true);
      }
    });
    const joining = JoinInput.parse({
      name: 'returns',
      status: 'spawning',
      agent: { kind: 'exec', command: ['true'] },
    });
    const join = { type: 'member.join', by: USER, ...joining } as const;
    const leave = { type: 'member.leave', by: SYSTEM, memberId: 'returns', returning: false } as const;
    await stage.ledger.execute('demo', [join, leave], () => undefined);
    await Promise.all(again);
    await stage.join('waits');
    await until('the journal failed', () => stage.failures.length > 0);
    stage.breakJournal(false);
    await Promise.all([stage.running('returns'), stage.running('waits')]);
    expect(stage.launched.sort()).toEqual(['returns', 'waits']);
    expect(stage.failures).toMatchObject([{ code: 'storage' }]);
  });

  test('starts a member that was placed here while the journal was unreachable', async () => {
    const stage = await setStage();
    await stage.supervisor.start();
    await stage.join('ann');
    const first = await stage.running('ann');
    // The process dies, and that cannot be recorded. Another member is placed here without a notification.
    stage.breakJournal(true);
    process.kill(first.identity?.pid as number, 'SIGKILL');
    await until('the trouble is told', () => stage.failures.length > 0);
    stage.breakJournal(false);
    const place = { type: 'member.place', by: SYSTEM, memberId: 'bob', hostId: 'here' } as const;
    const join = JoinInput.parse({ name: 'bob', status: 'active', agent: { kind: 'exec', command: ['true'] } });
    await stage.ledger.execute('demo', [{ type: 'member.join', by: USER, ...join }, place], () => undefined);
    await until('both run', async () => {
      await stage.supervisor.reconsider('demo');
      return stage.supervisor.list('demo').length === 2;
    });
    expect(await stage.ledger.view('demo', ({ members }) => members.get('bob')?.restarts)).toHaveLength(1);
  });

  test('reports why a process ended: the last line of its output', async () => {
    const stage = await setStage('echo first; echo the key is missing >&2; exit 7', { log: true });
    const failures: { reason: string }[] = [];
    stage.supervisor.on('session:failed', (failure) => failures.push(failure));
    await stage.supervisor.start();
    await stage.join('worker');
    const failure = await until('it has failed', () => failures[0]);
    expect(failure.reason).toBe('exit code 7: the key is missing');
  });

  test('does not touch a record that it cannot read', async () => {
    const unreadable: string[] = [];
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'member-x.json'), '{"id":');
    expect(openProcessRecords(folder, (path) => unreadable.push(path)).list()).toEqual([]);
    expect(unreadable).toEqual([join(folder, 'member-x.json')]);
    expect(readdirSync(folder)).toEqual(['member-x.json']);
  });
});

/** A team `demo` and a supervisor that runs a shell script for each member. */
async function setStage(
  script = 'exec sleep 1016',
  options: { journal?: Journal; folder?: string; create?: boolean; log?: boolean } = {},
) {
  const { journal = memoryJournal(), folder = temporaryFolder(), create = true, log = false } = options;
  let isAway = false;
  const ledger = openLedger({
    ...journal,
    append: (...args) => (isAway ? Promise.reject(new TeamError('storage', 'away')) : journal.append(...args)),
  });
  const mailbox = new Mailbox(ledger);
  const records = openProcessRecords(folder);
  const launched: string[] = [];
  const failures: unknown[] = [];
  const supervisor = new Supervisor({
    ledger,
    mailbox,
    records,
    hostId: 'here',
    launch: async ({ memberId, processId }) => {
      launched.push(memberId);
      return {
        command: ['sh', '-c', script, 'sh', ...teammateArguments({ teamId: 'demo', memberId, directory: folder })],
        cwd: '/',
        env: { PATH: process.env['PATH'] ?? '' },
        ...(log && { log: join(folder, `${processId}.log`) }),
      };
    },
    onError: (error) => failures.push(error),
  });
  onTestFinished(async () => {
    await supervisor.close({ end: true });
    for (const { id } of records.list()) await endMarked(id);
    mailbox.close();
  });
  if (create) {
    const team = CreateTeamInput.parse({ name: 'demo' });
    await ledger.execute('demo', { type: 'team.create', by: USER, ...team }, () => undefined);
  }
  const agent = { kind: 'exec' as const, command: ['true'] };
  return {
    folder,
    ledger,
    mailbox,
    records,
    supervisor,
    launched,
    failures,
    breakJournal: (away: boolean) => void (isAway = away),
    async join(name: string): Promise<void> {
      const input = JoinInput.parse({ name, status: 'spawning', agent });
      await ledger.execute('demo', { type: 'member.join', by: USER, ...input }, () => undefined);
    },
    /** The member has said that it works, and has a task of its own. */
    async claim(memberId: string): Promise<void> {
      const create = { type: 'task.create', by: USER, ...CreateTaskInput.parse({ title: memberId }) } as const;
      const change = { type: 'member.change', by: memberId, memberId, status: 'active' } as const;
      await ledger.execute('demo', [create, change, { type: 'task.claim', by: memberId }], () => undefined);
    },
    /** The members that hold a task. */
    heldBy: () =>
      ledger.view('demo', ({ tasks }) =>
        [...tasks.values()]
          .flatMap(({ status, assigneeId }) => (status === 'in_progress' ? (assigneeId ?? '') : []))
          .sort(),
      ),
    async leave(memberId: string): Promise<void> {
      const command = { type: 'member.leave', by: SYSTEM, memberId, returning: false } as const;
      await ledger.execute('demo', command, () => undefined);
    },
    running: (memberId: string) =>
      until(`${memberId} runs`, () => supervisor.list('demo').find((record) => record.memberId === memberId)),
  };
}
