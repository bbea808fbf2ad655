import { describe, expect, onTestFinished, test } from 'vitest';
import { USER } from '../../src/core/actor.ts';
import type { HandedIn } from '../../src/core/work.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { answerRequest } from '../../src/ledger/answer-request.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { JudgedFolder } from '../../src/ledger/task-gate.ts';
import { SharedTaskList } from '../../src/ledger/task-list.ts';
import type { WorkLander } from '../../src/ledger/work-lander.ts';
import { commit, WORK } from '../samples/work.ts';
import { claim, createTask, createTeam, join, run, TEAM } from './commands.ts';
import { openLedger } from './places.ts';
import { verdict } from './task-lists.ts';

const SIZE = { files: 1, added: 1, removed: 0, paths: ['a.txt'] };

const EXEC = { kind: 'exec', command: ['true'] };

/** A team in which ann and bob hold a task each. `lander` stands for git. */
async function begin(given: {
  lander?: (ledger: Ledger) => Partial<WorkLander>;
  gate?: (merged: JudgedFolder | undefined) => ReturnType<typeof verdict>;
}) {
  const ledger = openLedger(memoryJournal());
  await createTeam(ledger, { members: [] });
  await run(ledger, { type: 'team.update', by: USER, work: { ...WORK, branch: `troupe/${TEAM}` } });
  for (const name of ['ann', 'bob']) {
    await run(ledger, join(name, { agent: EXEC }));
    await createTask(ledger, `Task of ${name}`);
    await run(ledger, claim(name));
  }
  const did: string[] = [];
  let merges = 0;
  const tipNow = () => ledger.view(TEAM, ({ team }) => team?.work?.tip ?? '');
  const merge: WorkLander['merge'] = async ({ memberId, epoch }, { base, commit: saved }) => ({
    memberId,
    epoch,
    base,
    commit: saved,
    ...SIZE,
    onto: await tipNow(),
    merged: commit(`${++merges}e`.padStart(3, '0')),
  });
  const turns = new Map<string, Promise<unknown>>();
  const usual: WorkLander = {
    save: async ({ memberId }) => ({ base: commit(1), commit: commit(memberId === 'ann' ? 'a' : 'b') }),
    merge,
    inTurn(teamId, land) {
      const turn = (turns.get(teamId) ?? Promise.resolve()).then(land, land);
      turns.set(teamId, turn);
      return turn;
    },
    checkOut: async (_held, merged) => (did.push('checked out'), { folder: `/landing/${merged}`, slot: 7 }),
    landed: async ({ memberId }) => void did.push(`${memberId} landed`),
    explain: async (_held, { conflicts = [] }) => `bring together ${conflicts.join()}`,
    sentBack: async ({ memberId }) => void did.push(`${memberId} has both sides`),
  };
  const works = { ...usual, ...given.lander?.(ledger) };
  const gate = {
    async executeTaskCompletedHook(_context: unknown, merged?: JudgedFolder) {
      did.push(merged ? 'judged merged' : 'judged alone');
      return given.gate?.(merged) ?? verdict(0);
    },
  };
  const tasks = new SharedTaskList(ledger, { gate, works });
  onTestFinished(() => tasks.close());
  const of = { ann: '1', bob: '2' } as const;
  const complete = (name: 'ann' | 'bob') => tasks.completeTask(TEAM, of[name], name, { result: `${name} is done` });
  const show = (name: 'ann' | 'bob') => tasks.getTask(TEAM, of[name]);
  const answer = (requestId: string) =>
    answerRequest(ledger, works, { teamId: TEAM, input: { requestId, approve: true }, once: {} });
  return { ledger, tasks, did, complete, show, answer, tipNow };
}

describe('handing in', () => {
  test('judges work alone, and once more merged if other work landed since it began', async () => {
    const { did, complete, show, tipNow } = await begin({});
    await complete('ann');
    expect(did).toEqual(['judged alone', 'ann landed']);
    did.length = 0;
    await complete('bob');
    expect(did).toEqual(['judged alone', 'checked out', 'judged merged', 'bob landed']);
    expect((await show('bob'))?.work).toMatchObject({ state: 'landed', merged: await tipNow() });
  });

  test('sends back what a gate rejects only merged, with the merged result in the folder of its holder', async () => {
    const gate = (merged: JudgedFolder | undefined) => verdict(merged ? 2 : 0, { stderr: 'they do not fit' });
    const { did, complete, show, tipNow } = await begin({ gate });
    await complete('ann');
    const tip = await tipNow();
    await expect(complete('bob')).rejects.toMatchObject({
      code: 'gate_rejected',
      message: expect.stringMatching(
        /^The gate accepted this work alone, and rejected it merged .* It says:\nthey do not fit$/,
      ),
    });
    expect(did.at(-1)).toBe('bob has both sides');
    expect(await show('bob')).toMatchObject({ status: 'in_progress', rejections: 1 });
    expect(await tipNow()).toBe(tip);
  });

  test('sends back merged work that cannot be made ready; a person is asked about a setup that is not approved', async () => {
    let unapproved = false;
    const { complete, show, tasks, ledger } = await begin({
      lander: () => ({ checkOut: async () => ({ problem: 'The setup failed', unapproved }) }),
    });
    await complete('ann');
    await expect(complete('bob')).rejects.toMatchObject({ code: 'gate_rejected', message: 'The setup failed' });
    expect(await show('bob')).toMatchObject({ rejections: 1, feedback: 'The setup failed' });
    unapproved = true;
    await expect(complete('bob')).rejects.toMatchObject({ code: 'gate_rejected' });
    const asked = await ledger.view(TEAM, ({ requests }) => [...requests.values()]);
    expect(asked).toMatchObject([{ kind: 'gate', taskId: '2', status: 'pending' }]);
    expect((await tasks.getTask(TEAM, '2'))?.rejections).toBe(1);
  });

  test('sends back work that conflicts before a gate spends time on it', async () => {
    const { did, complete, show } = await begin({
      lander: (ledger) => ({
        merge: async ({ memberId, epoch }, { base, commit: saved }): Promise<HandedIn> => ({
          memberId,
          epoch,
          base,
          commit: saved,
          ...SIZE,
          onto: await ledger.view(TEAM, ({ team }) => team?.work?.tip ?? ''),
          conflicts: ['a.txt'],
        }),
      }),
    });
    await expect(complete('ann')).rejects.toMatchObject({ code: 'gate_rejected', message: 'bring together a.txt' });
    expect(did).toEqual(['ann has both sides']);
    expect(await show('ann')).toMatchObject({ status: 'in_progress', work: { state: 'conflicted', sentBack: 1 } });
  });

  test('merges again, and judges again, if another daemon moves the branch in between', async () => {
    let rivals = 2;
    const { did, complete, show, tipNow } = await begin({
      lander: (ledger) => ({
        async checkOut() {
          const onto = await ledger.view(TEAM, ({ team }) => team?.work?.tip ?? '');
          if (--rivals >= 0) await landElsewhere(ledger, onto, commit(`c${rivals}`));
          did.push('checked out');
          return { folder: '/landing', slot: 0 };
        },
      }),
    });
    await complete('ann');
    did.length = 0;
    await complete('bob');
    expect(did).toEqual([
      'judged alone',
      ...Array.from({ length: 3 }, () => ['checked out', 'judged merged']).flat(),
      'bob landed',
    ]);
    expect((await show('bob'))?.work?.merged).toBe(await tipNow());
  });

  test('lands works of a team one after the other', async () => {
    const { did, complete, show } = await begin({});
    await Promise.all([complete('ann'), complete('bob')]);
    expect(did.filter((what) => what !== 'judged alone')).toEqual([
      expect.stringMatching(/^(ann|bob) landed$/),
      'checked out',
      'judged merged',
      expect.stringMatching(/^(ann|bob) landed$/),
    ]);
    expect([(await show('ann'))?.status, (await show('bob'))?.status]).toEqual(['completed', 'completed']);
  });
});

/** Lands work of a third member, as another daemon would. */
async function landElsewhere(ledger: Ledger, onto: string, merged: string): Promise<void> {
  const memberId = `other-${merged.slice(0, 4)}`;
  await run(ledger, join(memberId, { agent: EXEC }));
  const taskId = await createTask(ledger, 'elsewhere');
  await run(ledger, claim(memberId, taskId));
  const work: HandedIn = { memberId, epoch: 1, base: commit(1), commit: commit('d'), onto, merged, ...SIZE };
  await run(ledger, { type: 'task.complete', by: memberId, taskId, work });
}

test('a person who accepts work whose conflict is open lands no markers', async () => {
  let state: 'conflicting' | 'with markers' = 'conflicting';
  const { complete, show, answer, ledger, tipNow } = await begin({
    lander: (on) => ({
      save: async () => ({
        base: commit(1),
        commit: commit('a'),
        ...(state === 'with markers' && { problem: 'a.txt has markers' }),
      }),
      merge: async ({ memberId, epoch }, { base, commit: saved }): Promise<HandedIn> => ({
        memberId,
        epoch,
        base,
        commit: saved,
        ...SIZE,
        onto: await on.view(TEAM, ({ team }) => team?.work?.tip ?? ''),
        ...(state === 'conflicting' ? { conflicts: ['a.txt'] } : { merged: commit('e') }),
      }),
    }),
  });
  const tip = await tipNow();
  await expect(complete('ann')).rejects.toMatchObject({ code: 'gate_rejected' });
  state = 'with markers';
  for (let tries = 0; tries < 5; tries++) {
    await expect(complete('ann')).rejects.toMatchObject({ code: 'gate_rejected' });
  }
  const [request] = await ledger.view(TEAM, ({ requests }) => [...requests.values()]);
  expect(request?.content).toBe('Task #1 was sent back 5 times. The last feedback: a.txt has markers');
  await answer(request?.id ?? '');
  expect(await show('ann')).toMatchObject({ status: 'completed', work: { state: 'conflicted', commit: commit('a') } });
  expect(await tipNow()).toBe(tip);
});
