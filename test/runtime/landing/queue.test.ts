import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { USER } from '../../../src/core/actor.ts';
import { memoryJournal } from '../../../src/journal/memory.ts';
import { answerRequest } from '../../../src/ledger/answer-request.ts';
import type { QueuedWork } from '../../../src/runtime/landing/queued.ts';
import { leave, run, TEAM } from '../../ledger/commands.ts';
import { verdict } from '../../ledger/task-lists.ts';
import { tries } from '../../proof.ts';
import { until } from '../../until.ts';
import { Repository } from './repository.ts';
import { latch, openQueueStage } from './stage.ts';
import type { Asked, QueueStage } from './stage.ts';

const RED = (said: string) => verdict(2, { stderr: said });

/** Lets the first landing wait in its gate until all others are in the queue. */
function slowFirst(then: (asked: Asked) => ReturnType<typeof verdict> = () => verdict(0)) {
  const first = latch();
  let count = 0;
  return {
    go: first.open,
    gate: async (asked: Asked) => {
      if (count++ === 0) await first.wait();
      return then(asked);
    },
  };
}

async function queued(stage: QueueStage, count: number): Promise<void> {
  await until(`${count} works wait`, async () => ((await stage.work())?.queue ?? []).length === count);
}

describe('the merge queue', () => {
  test("judges work in its holder's folder if nothing landed since it began, else merged", async () => {
    const stage = await openQueueStage({ members: ['ann', 'bob'], gate: () => verdict(0) });
    stage.write('ann', { a: '1' });
    stage.write('bob', { b: '1' });
    expect(await stage.complete('ann')).toMatchObject({
      status: 'completed',
      result: 'ann is done',
      work: { state: 'landed' },
    });
    expect(await stage.complete('bob')).toMatchObject({ status: 'completed', work: { state: 'landed' } });
    const [first, ...rest] = stage.asked;
    expect(first).toEqual({ taskId: '1', taskIds: undefined, files: { a: '1' }, where: 'holder' });
    expect(rest.pop()).toEqual({ taskId: '2', taskIds: undefined, files: { a: '1', b: '1' }, where: 'landing' });
    // While the queue still ends its first landing, the second work waits, and may be judged alone meanwhile.
    const alone = { taskId: '2', taskIds: undefined, files: { b: '1' }, where: 'holder' };
    expect([[], [alone]]).toContainEqual(rest);
    expect(stage.repository.files(await stage.tipNow())).toEqual({ a: '1', b: '1' });
    expect(await stage.work()).toMatchObject({ queue: [], queueHost: 'here' });
    expect((await stage.work())?.landing).toBeUndefined();
  });

  test('lands work whose model refused only if a gate accepts it, else a person is asked; others land', async () => {
    const verdicts: Record<string, ReturnType<typeof verdict>> = {
      ann: verdict(0, { accepted: true }),
      bob: verdict(1),
      cyd: RED('no tests'),
    };
    const members = ['ann', 'bob', 'cyd'];
    const stage = await openQueueStage({
      members,
      // Together with bob's work nothing is judged, either.
      gate: ({ files }) => verdicts[members.findLast((name) => files[name] !== undefined) ?? ''] ?? verdict(0),
    });
    const refused = { result: 'the model refused', refused: true };
    for (const name of members) stage.write(name, { [name]: '1' });
    expect(await stage.complete('ann', refused)).toMatchObject({ status: 'completed', work: { state: 'landed' } });
    for (const [name, said] of Object.entries({ bob: 'No gate judged it.', cyd: 'The gate does not accept it:' })) {
      await expect(stage.complete(name, refused)).rejects.toMatchObject({
        code: 'gate_rejected',
        message: expect.stringContaining(said),
      });
      expect(await stage.show(name)).toMatchObject({ status: 'in_progress', rejections: 0 });
    }
    const asked = await stage.ledger.view(TEAM, ({ requests }) => [...requests.values()].map(({ content }) => content));
    expect(asked).toMatchObject([
      expect.stringContaining('The model refused task #2.'),
      expect.stringContaining('The model refused task #3.'),
    ]);
    // The same work counts if its member says that it is done.
    expect(await stage.complete('bob')).toMatchObject({ status: 'completed', work: { state: 'landed' } });
    expect(stage.errors).toEqual([]);
  });

  test('asks a person about work whose model refused if the team has no gate', async () => {
    const stage = await openQueueStage({ members: ['ann', 'bob'] });
    stage.write('ann', { a: '1' });
    stage.write('bob', { b: '1' });
    await expect(stage.complete('ann', { refused: true })).rejects.toMatchObject({ code: 'gate_rejected' });
    expect(await stage.complete('bob')).toMatchObject({ status: 'completed' });
    const [request] = await stage.ledger.view(TEAM, ({ requests }) => [...requests.values()]);
    expect(request).toMatchObject({ kind: 'gate', taskId: '1', status: 'pending' });
    expect(await stage.show('ann')).toMatchObject({ status: 'in_progress', work: { state: 'begun' } });
  });

  test('lands without a gate what nothing judges', async () => {
    const stage = await openQueueStage({ members: ['ann'] });
    stage.write('ann', { a: '1' });
    await stage.complete('ann');
    expect(stage.asked).toEqual([]);
    expect((await stage.events()).slice(-4)).toEqual([
      'work:submitted',
      'landing:begun',
      'work:landed',
      'task:completed',
    ]);
  });

  test('gives work back whose save is gone with its repository, and lands it when it is handed in again', async () => {
    const gone = new Set<string>();
    const repository = new Repository();
    const git = {
      async mergeOnto(_teamId: string, work: QueuedWork, onto: string) {
        const { taskId, result: _result, completer: _by, left: _left, ...handed } = work;
        if (taskId === '1' && gone.size === 0) gone.add(work.commit);
        if (gone.has(work.commit)) throw new Error('one of them is not whole in the depot');
        return { ...handed, onto, ...repository.merge(work.base, work.commit, onto) };
      },
      isGone: async (_teamId: string, { commit }: QueuedWork) => gone.has(commit),
    };
    const stage = await openQueueStage({ members: ['ann', 'bob'], repository, git });
    stage.write('ann', { a: '1' });
    stage.write('bob', { b: '1' });
    await expect(stage.complete('ann')).rejects.toMatchObject({
      code: 'gate_rejected',
      message: expect.stringContaining('The files are still in the folder: complete the task again'),
    });
    expect((await stage.work())?.queue).toEqual([]);
    await stage.complete('bob');
    // A folder that is saved again gives another commit.
    stage.write('ann', { more: '1' });
    expect(await stage.complete('ann')).toMatchObject({ status: 'completed' });
    expect(repository.files(await stage.tipNow())).toEqual({ a: '1', b: '1', more: '1' });
  });

  test('completes work without changes at once, once the gate accepts it', async () => {
    const stage = await openQueueStage({ members: ['ann'], gate: () => verdict(0) });
    expect(await stage.complete('ann')).toMatchObject({ status: 'completed', work: { state: 'unchanged' } });
    expect(stage.asked).toMatchObject([{ where: 'holder' }]);
  });

  test('judges waiting works alone, and lands the good ones together', async () => {
    const slow = slowFirst(({ files, taskIds }) => (files['d'] === 'bad' && !taskIds ? RED('d is bad') : verdict(0)));
    const members = ['ann', 'bob', 'cyd', 'dan'];
    const stage = await openQueueStage({ members, gate: slow.gate, gates: 4 });
    stage.write('ann', { a: '1' });
    stage.write('bob', { b: '1' });
    stage.write('cyd', { c: '1' });
    stage.write('dan', { d: 'bad' });
    const ann = stage.complete('ann');
    await until('ann is judged', () => stage.asked.length === 1);
    const others = ['bob', 'cyd', 'dan'].map((name) => stage.complete(name).catch((error: unknown) => error));
    await until('the others are judged alone', () => stage.asked.length === 4);
    slow.go();
    await ann;
    expect(await Promise.all(others)).toMatchObject([
      { status: 'completed' },
      { status: 'completed' },
      { code: 'gate_rejected', message: 'd is bad' },
    ]);
    expect(stage.asked.filter(({ where }) => where === 'landing')).toEqual([
      { taskId: '2', taskIds: ['2', '3'], files: { a: '1', b: '1', c: '1' }, where: 'landing' },
    ]);
    expect(await stage.show('dan')).toMatchObject({ status: 'in_progress', rejections: 1, work: { state: 'begun' } });
  });

  test('does not judge alone what it is about to land', async () => {
    const repository = new Repository();
    const merging = latch();
    const stage = await openQueueStage({
      members: ['ann', 'bob'],
      repository,
      gate: () => verdict(0),
      git: {
        async mergeOnto(_teamId, { memberId, epoch, base, commit, files, added, removed, paths }, onto) {
          await merging.wait();
          const about = { memberId, epoch, base, commit, files, added, removed, paths, onto };
          return { ...about, ...repository.merge(base, commit, onto) };
        },
      },
    });
    stage.write('ann', { a: '1' });
    stage.write('bob', { b: '1' });
    const ann = stage.complete('ann');
    await queued(stage, 1);
    const bob = stage.complete('bob');
    await until('bob is judged alone', () => stage.asked.some(({ taskId }) => taskId === '2'));
    expect(stage.asked.map(({ taskId }) => taskId)).toEqual(['2']);
    merging.open();
    await Promise.all([ann, bob]);
  });

  test('halves what is rejected only together, and sends back the one that does not fit', async () => {
    const slow = slowFirst(({ files }) => (files['b'] && files['d'] ? RED('b and d do not fit') : verdict(0)));
    const members = ['ann', 'bob', 'cyd', 'dan', 'eve'];
    const stage = await openQueueStage({ members, gate: slow.gate, gates: 8 });
    for (const name of members) stage.write(name, { [name.charAt(0)]: '1' });
    const first = stage.complete('ann');
    await until('ann is judged', () => stage.asked.length === 1);
    const answers: Promise<unknown>[] = [];
    for (const [i, name] of members.slice(1).entries()) {
      answers.push(stage.complete(name).catch((error: unknown) => error));
      await queued(stage, i + 2);
    }
    await until('the others are judged alone', () => stage.asked.length === 5);
    slow.go();
    await first;
    const [bob, cyd, dan, eve] = await Promise.all(answers);
    expect([bob, cyd, eve]).toMatchObject([{ status: 'completed' }, { status: 'completed' }, { status: 'completed' }]);
    expect(dan).toMatchObject({
      code: 'gate_rejected',
      message:
        'The gate rejected this work merged with what landed since it began. That is in your folder now. It says:\nb and d do not fit',
    });
    expect(
      stage.asked.filter(({ where }) => where === 'landing').map(({ taskId, taskIds }) => taskIds ?? [taskId]),
    ).toEqual([['2', '3', '4', '5'], ['2', '3'], ['4', '5'], ['4'], ['5']]);
    expect(stage.repository.files(await stage.tipNow())).toEqual({ a: '1', b: '1', c: '1', e: '1' });
    const ends = (await stage.events()).filter((type) => type === 'landing:ended');
    expect(ends).toHaveLength(3);
  });

  test('sends back what conflicts with the branch, and lets wait what conflicts with a work before it', async () => {
    const slow = slowFirst();
    const members = ['ann', 'bob', 'cyd'];
    const stage = await openQueueStage({ members, gate: slow.gate, gates: 4 });
    stage.write('ann', { a: '1' });
    stage.write('bob', { x: 'of bob' });
    stage.write('cyd', { x: 'of cyd' });
    const first = stage.complete('ann');
    await until('ann is judged', () => stage.asked.length === 1);
    const bob = stage.complete('bob');
    await queued(stage, 2);
    const cyd = stage.complete('cyd').catch((error: unknown) => error);
    await until('the others are judged alone', () => stage.asked.length === 3);
    slow.go();
    await Promise.all([first, bob]);
    expect(await cyd).toMatchObject({ code: 'gate_rejected', message: 'bring together x' });
    expect(await stage.show('cyd')).toMatchObject({ work: { state: 'conflicted', sentBack: 1, conflicts: ['x'] } });
    // It brings both together, and has its old place.
    stage.write('cyd', { x: 'of both' }, await stage.tipNow());
    expect(await stage.complete('cyd')).toMatchObject({ status: 'completed' });
    expect(stage.repository.files(await stage.tipNow())['x']).toBe('of both');
  });

  test('answers after a while with the place in the queue, and waits for the same verdict if it is called again', async () => {
    const slow = slowFirst();
    const stage = await openQueueStage({ members: ['ann', 'bob'], gate: slow.gate, gates: 1 });
    stage.write('ann', { a: '1' });
    stage.write('bob', { b: '1' });
    const first = stage.complete('ann', { commandId: 'a' });
    await until('ann is judged', () => stage.asked.length === 1);
    expect(await stage.complete('bob', { commandId: 'b', wait: 0 })).toMatchObject({
      status: 'in_progress',
      work: { state: 'submitted' },
    });
    expect((await stage.work())?.queue).toEqual(['1', '2']);
    const again = [stage.complete('ann', { commandId: 'a' }), stage.complete('bob', { commandId: 'b' })];
    slow.go();
    expect(await Promise.all([first, ...again])).toMatchObject(['1', '2', '2'].map(() => ({ status: 'completed' })));
    expect((await stage.events()).filter((type) => type === 'work:submitted')).toHaveLength(2);
  });

  test('judges in its own folder what a holder changed again after it had handed in', async () => {
    const slow = slowFirst();
    const stage = await openQueueStage({ members: ['ann'], gate: slow.gate });
    stage.write('ann', { a: '1' });
    const done = stage.complete('ann');
    await until('it is judged', () => stage.asked.length === 1);
    stage.write('ann', { a: '2' });
    slow.go();
    await done;
    expect(stage.asked.map(({ where, files }) => [where, files])).toEqual([
      ['holder', { a: '1' }],
      ['landing', { a: '1' }],
    ]);
    expect(stage.repository.files(await stage.tipNow())).toEqual({ a: '1' });
  });

  test('lands what a member handed in before it stopped; if it is sent back, the task is free', async () => {
    const slow = slowFirst(({ files }) => (files['b'] ? RED('b is bad') : verdict(0)));
    const stage = await openQueueStage({ members: ['ann', 'bob'], gate: slow.gate, gates: 0 });
    stage.write('ann', { a: '1' });
    stage.write('bob', { b: '1' });
    const answers = ['ann', 'bob'].map((name) => stage.complete(name).catch((error: unknown) => error));
    await queued(stage, 2);
    await run(stage.ledger, leave('ann'), leave('bob'));
    slow.go();
    expect(await Promise.all(answers)).toMatchObject([{ status: 'completed' }, { code: 'stale_epoch' }]);
    expect(await stage.show('bob')).toMatchObject({ status: 'pending', feedback: expect.stringContaining('b is bad') });
  });

  test('of works that are judged together, only the one that changes the gate goes before a person', async () => {
    const slow = slowFirst(({ files }) =>
      files['gate'] === undefined ? verdict(0) : { ...verdict(2), unable: 'gate changed', unapproved: 'its hash' },
    );
    const members = ['ann', 'bob', 'cyd', 'dan', 'eve'];
    const stage = await openQueueStage({ members, gate: slow.gate, gates: 0 });
    for (const name of members) stage.write(name, { [name === 'cyd' ? 'gate' : name]: '1' });
    const answers = members.map((name) => stage.complete(name).catch((error: unknown) => error));
    await queued(stage, 5);
    slow.go();
    const isDone = { status: 'completed' };
    expect(await Promise.all(answers)).toMatchObject([
      isDone,
      isDone,
      { code: 'gate_rejected', message: expect.stringContaining('A person was asked') },
      isDone,
      isDone,
    ]);
    expect(stage.asked.some(({ taskIds }) => taskIds?.includes('3'))).toBe(true);
    const requests = await stage.ledger.view(TEAM, (state) => [...state.requests.values()]);
    expect(requests).toMatchObject([{ kind: 'gate', taskId: '3', detail: { approves: 'its hash' } }]);
    expect(stage.repository.files(await stage.tipNow())).toEqual({ ann: '1', bob: '1', dan: '1', eve: '1' });
  });

  test('a person is asked about work that changes the setup, and the answer is about that content', async () => {
    const git = { checkOut: async () => ({ problem: 'The setup was not run', unapproved: 'its hash' }) };
    const stage = await openQueueStage({ members: ['ann', 'bob'], gate: () => verdict(0), git });
    stage.write('ann', { a: '1' });
    stage.write('bob', { setup: '1' });
    await stage.complete('ann');
    await expect(stage.complete('bob')).rejects.toMatchObject({ code: 'gate_rejected' });
    const requests = await stage.ledger.view(TEAM, (state) => [...state.requests.values()]);
    expect(requests).toMatchObject([{ kind: 'gate', taskId: '2', detail: { approves: 'its hash' } }]);
  });

  test('a person is asked if no gate can judge, and a yes lands the work', async () => {
    const gate = () => ({ ...verdict(2), unable: 'The program is missing' });
    const stage = await openQueueStage({ members: ['ann'], gate });
    stage.write('ann', { a: '1' });
    await expect(stage.complete('ann')).rejects.toMatchObject({
      code: 'gate_rejected',
      message: 'The program is missing\nA person was asked. The work needs no change',
    });
    const [request] = await stage.ledger.view(TEAM, ({ requests }) => [...requests.values()]);
    expect(await stage.show('ann')).toMatchObject({ rejections: 0, work: { state: 'begun' } });
    const works = {
      save: async () => ({
        base: stage.folders.get('ann')?.base ?? '',
        commit: (await stage.show('ann'))?.work?.commit ?? '',
      }),
      measure: async () => Promise.reject(new Error('not needed')),
      async merge(
        { memberId, epoch }: { memberId: string; epoch: number },
        { base, commit }: { base: string; commit: string },
      ) {
        const onto = await stage.tipNow();
        const size = { files: 1, added: 1, removed: 0, paths: ['a'] };
        return { memberId, epoch, base, commit, ...size, onto, ...stage.repository.merge(base, commit, onto) };
      },
      settled: async () => {},
    };
    const input = { requestId: request?.id ?? '', approve: true };
    await answerRequest(stage.ledger, works, { teamId: TEAM, input, once: {} });
    expect(await stage.show('ann')).toMatchObject({ status: 'completed', work: { state: 'landed' } });
  });

  test('takes a work out if its task changes hands, and judges the others again', async () => {
    const slow = slowFirst();
    const stage = await openQueueStage({ members: ['ann', 'bob'], gate: slow.gate, gates: 0 });
    stage.write('ann', { a: '1' });
    stage.write('bob', { b: '1' });
    const lost = stage.complete('ann').catch((error: unknown) => error);
    await until('it is judged', () => stage.asked.length === 1);
    const bob = stage.complete('bob');
    await queued(stage, 2);
    await run(stage.ledger, { type: 'task.release', by: USER, taskId: '1' });
    slow.go();
    expect(await lost).toMatchObject({ code: 'stale_epoch' });
    expect(await bob).toMatchObject({ status: 'completed' });
    expect(stage.repository.files(await stage.tipNow())).toEqual({ b: '1' });
    expect(await stage.show('ann')).toMatchObject({ status: 'pending', work: { state: 'begun' } });
  });

  test.each([
    { where: 'whose members are here', isNear: true },
    { where: 'whose members have all moved to other machines', isNear: false },
  ])('goes on with what a daemon left open that was killed, in a team $where', async ({ isNear }) => {
    const journal = memoryJournal();
    const repository = new Repository();
    const folders = new Map();
    const members = ['ann'];
    const before = await openQueueStage({ members, journal, repository, folders, gate: () => new Promise(() => {}) });
    before.write('ann', { a: '1' });
    void before.complete('ann').catch(() => {});
    await until('a landing is open', async () => (await before.work())?.landing);
    before.queues.close();
    const after = await openQueueStage({
      members,
      journal,
      repository,
      folders,
      gate: () => verdict(0),
      create: false,
      isNear,
    });
    await until('it has landed', async () => (await after.show('ann'))?.status === 'completed');
    expect(await after.events()).toEqual(
      expect.arrayContaining(['landing:begun', 'landing:ended', 'landing:begun', 'work:landed', 'task:completed']),
    );
  });

  test('of two daemons one lands; if it is gone, the other drops its landing and goes on', async () => {
    const journal = memoryJournal();
    const repository = new Repository();
    const folders = new Map();
    const members = ['ann', 'bob'];
    const shared = { members, journal, repository, folders };
    const alive = new Set(['one', 'two']);
    const isAlive = (name: string) => alive.has(name);
    const one = await openQueueStage({ ...shared, hostId: 'one', isAlive, gate: () => new Promise(() => {}) });
    one.write('ann', { a: '1' });
    void one.complete('ann').catch(() => {});
    await until('a landing is open', async () => (await one.work())?.landing);
    const two = await openQueueStage({ ...shared, hostId: 'two', isAlive, gate: () => verdict(0), create: false });
    two.write('bob', { b: '1' });
    const bob = two.complete('bob');
    await queued(two, 2);
    expect((await two.work())?.landing?.hostId).toBe('one');
    alive.delete('one');
    one.queues.close();
    expect(await bob).toMatchObject({ status: 'completed' });
    await until('the other has landed, too', async () => (await two.show('ann'))?.status === 'completed');
    expect(two.repository.files(await two.tipNow())).toEqual({ a: '1', b: '1' });
    expect((await two.work())?.queueHost).toBe('two');
  });

  test('a work that cannot be merged keeps nobody else from landing', async () => {
    const stage = await openQueueStage({ members: ['ann', 'bob'] });
    const broken = await openQueueStage({
      members: ['ann', 'bob'],
      git: {
        async mergeOnto(_teamId, { taskId, memberId, epoch, base, commit, files, added, removed, paths }, onto) {
          if (taskId === '1') throw new Error('its pack is missing');
          const about = { memberId, epoch, base, commit, files, added, removed, paths, onto };
          return { ...about, merged: stage.repository.add({}) };
        },
      },
    });
    broken.write('ann', { a: '1' });
    broken.write('bob', { b: '1' });
    void broken.complete('ann').catch(() => {});
    expect(await broken.complete('bob')).toMatchObject({ status: 'completed' });
    expect(broken.errors).toMatchObject([{ message: 'its pack is missing' }]);
  });
});

test('whatever is handed in, every tip passes the gates, and each good work lands exactly once', async () => {
  const names = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8'];
  const edits = fc.record({
    /** Members that write the same file conflict. */
    file: fc.nat(5),
    bad: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
    /** Two of them are red together. */
    odd: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(edits, { minLength: names.length, maxLength: names.length }),
      fc.nat(4),
      async (plan, gates) => {
        const isGreen = (files: Record<string, string>): boolean =>
          !Object.values(files).some((text) => text.includes('bad')) &&
          Object.keys(files).filter((path) => path.startsWith('odd')).length < 2;
        const stage = await openQueueStage({
          members: names,
          gates,
          gate: ({ files }) => (isGreen(files) ? verdict(0) : RED('red')),
        });
        for (const [i, name] of names.entries()) {
          const { file, bad, odd } = plan[i] ?? { file: 0, bad: false, odd: false };
          stage.write(name, { [`file-${file}`]: `${name}${bad ? ' bad' : ''}`, ...(odd && { [`odd-${name}`]: name }) });
        }
        const ends = await Promise.all(names.map((name) => stage.complete(name).catch((error: unknown) => error)));
        const landed: string[] = [];
        let tip: string | undefined;
        for await (const { events } of stage.ledger.read(TEAM, 0)) {
          for (const event of events) {
            if (event.type !== 'work:landed') continue;
            if (tip !== undefined) expect(event.onto).toBe(tip);
            tip = event.merged;
            landed.push(event.taskId);
          }
          if (tip !== undefined) expect(isGreen(stage.repository.files(tip))).toBe(true);
        }
        expect(new Set(landed).size).toBe(landed.length);
        for (const [i, end] of ends.entries()) {
          const isLanded = landed.includes(String(i + 1));
          expect(isLanded ? (end as { status: string }).status : (end as { code: string }).code).toBe(
            isLanded ? 'completed' : 'gate_rejected',
          );
        }
        expect(stage.errors).toEqual([]);
        stage.queues.close();
      },
    ),
    tries(8),
  );
});
