import { expect, onTestFinished, test } from 'vitest';
import { SYSTEM, USER } from '../../src/core/actor.ts';
import { TeamError } from '../../src/core/errors.ts';
import type { SharedTask } from '../../src/core/task.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import type { HandedIn } from '../../src/core/work.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { answerRequest } from '../../src/ledger/answer-request.ts';
import type { HeldWork, SavedWork, WorkSaver } from '../../src/ledger/hand-in.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { SharedTaskList } from '../../src/ledger/task-list.ts';
import { commit, WORK } from '../samples/work.ts';
import { createTeam, join, run, task, TEAM } from './commands.ts';
import { openLedger } from './places.ts';
import { verdict } from './task-lists.ts';

/* Workspaces are git's affair. Here they are what `saver` says; the rules, the queue and the ledger are the real ones. */

const AGENT = { kind: 'exec', command: ['true'] };

interface Saver extends WorkSaver {
  saved: SavedWork;
  files: number;
  /** Called before a merge. */
  beforeMerge: () => Promise<void>;
  readonly calls: string[];
}

function openSaver(tipNow: () => Promise<string>): Saver {
  const calls: string[] = [];
  const size = (files: number) => ({ files, added: files, removed: 0, paths: files === 0 ? [] : ['a.txt'] });
  const saver: Saver = {
    saved: { base: commit(1), commit: commit(2) },
    files: 1,
    calls,
    beforeMerge: async () => undefined,
    async save() {
      calls.push('save');
      return saver.saved;
    },
    measure: async (_held, saved) => ({ ...saved, ...size(saver.files) }),
    async merge({ memberId, epoch }, { base, commit: saved }): Promise<HandedIn> {
      calls.push('merge');
      const onto = await tipNow();
      await saver.beforeMerge();
      return { memberId, epoch, base, commit: saved, onto, merged: commit(5), ...size(1) };
    },
    async settled() {
      calls.push('settled');
    },
  };
  return saver;
}

/** A team with a branch. `ann` and `cyd` work apart, `bob` in the shared folder. Task 1 is held by `ann`. */
async function openApart(options: { exitCode?: 0 | 1 | 2 } = {}) {
  const ledger = openLedger(memoryJournal());
  const create = CreateTeamInput.parse({ name: TEAM, maxTeammates: 8 });
  await run(ledger, { type: 'team.create', by: USER, ...create, work: WORK });
  await run(ledger, join('ann', { agent: AGENT }), join('bob'), join('cyd', { agent: AGENT }), task('one'));
  const saver = openSaver(() => ledger.view(TEAM, ({ team }) => team?.work?.tip ?? ''));
  const { exitCode } = options;
  const gate = { executeTaskCompletedHook: async () => verdict(exitCode ?? 0, { stderr: 'no tests' }) };
  const tasks = new SharedTaskList(ledger, { works: saver, ...(exitCode !== undefined && { gate }) });
  onTestFinished(() => tasks.close());
  await tasks.claimTask(TEAM, '1', 'ann');
  const get = async () => (await tasks.getTask(TEAM, '1')) as SharedTask;
  const queued = () => expect.poll(async () => (await get()).work?.state).toBe('submitted');
  return { ledger, tasks, saver, get, queued };
}

/** Lands what waits, as the merge queue does. */
async function land(ledger: Ledger, taskId: string, to: string): Promise<void> {
  const { held, onto, saved } = await ledger.view(TEAM, ({ tasks, team }) => {
    const one = tasks.get(taskId);
    const held: HeldWork = { teamId: TEAM, taskId, memberId: one?.assigneeId ?? '', epoch: one?.epoch ?? 0 };
    return { held, onto: team?.work?.tip ?? '', saved: one?.work?.commit ?? '' };
  });
  const { memberId, epoch } = held;
  const landing = { landingId: `l${taskId}`, hostId: 'h', onto, merged: to };
  const size = { files: 1, added: 1, removed: 0, paths: ['a.txt'] };
  const work = {
    memberId,
    epoch,
    base: commit(1),
    commit: saved,
    onto,
    merged: to,
    landingId: landing.landingId,
    ...size,
  };
  await run(
    ledger,
    { type: 'landing.begin', by: SYSTEM, ...landing, works: [{ taskId, epoch, commit: saved }] },
    { type: 'task.complete', by: SYSTEM, taskId, epoch, work },
  );
}

test('work done apart joins the queue, and its completion is answered when it has landed', async () => {
  const { ledger, tasks, saver, queued } = await openApart();
  const done = tasks.completeTask(TEAM, '1', 'ann', { result: 'done' });
  await queued();
  // What happens in another team is of no interest.
  await createTeam(ledger, { name: 'other' });
  await land(ledger, '1', commit(3));
  expect(await done).toMatchObject({ status: 'completed', work: { state: 'landed', merged: commit(3) } });
  expect(saver.calls).toEqual(['save', 'settled']);
});

test('a completion by update hands the work in, too; sent again, it waits for the same verdict', async () => {
  const { ledger, tasks, saver, queued } = await openApart();
  const changes = { title: 'ONE', status: 'completed' } as const;
  const update = () => tasks.updateTask(TEAM, '1', changes, 'ann', { commandId: 'c1' });
  const done = update();
  await queued();
  const again = update();
  await land(ledger, '1', commit(3));
  expect(await done).toMatchObject(changes);
  expect(await again).toMatchObject({ status: 'completed' });
  expect(saver.calls.filter((call) => call === 'save')).toHaveLength(1);
});

test('a caller that waits only so long gets the task as it is, and the work stays in the queue', async () => {
  const { tasks, get } = await openApart();
  expect(await tasks.completeTask(TEAM, '1', 'ann', { wait: 1 })).toMatchObject({ status: 'in_progress' });
  expect((await get()).work?.state).toBe('submitted');
});

test('a daemon that stops answers those that wait, before and after they began to wait', async () => {
  const { tasks, queued } = await openApart();
  const waiting = tasks.completeTask(TEAM, '1', 'ann');
  await queued();
  tasks.stopWaiting();
  const stops = { code: 'storage', message: 'The daemon is stopping: the work stays in the merge queue' };
  await expect(waiting).rejects.toMatchObject(stops);
  await expect(tasks.completeTask(TEAM, '1', 'ann')).rejects.toMatchObject(stops);
});

test.each<[string, (ledger: Ledger) => Promise<void>, string, string]>([
  [
    'a gate rejects it',
    (ledger) => run(ledger, { type: 'task.reject', by: SYSTEM, taskId: '1', feedback: 'no tests', commit: commit(2) }),
    'gate_rejected',
    'no tests',
  ],
  [
    'no gate can run',
    (ledger) => run(ledger, { type: 'task.reject', by: SYSTEM, taskId: '1', feedback: 'no program', unable: true }),
    'gate_rejected',
    'no program\nA person was asked. The work needs no change',
  ],
  [
    'another member works on it',
    (ledger) =>
      run(ledger, { type: 'task.release', by: 'lead', taskId: '1' }, { type: 'task.claim', by: 'cyd', taskId: '1' }),
    'stale_epoch',
    'it changed hands',
  ],
  [
    'it is taken from its holder',
    (ledger) => run(ledger, { type: 'task.release', by: 'lead', taskId: '1' }),
    'stale_epoch',
    'it changed hands',
  ],
  [
    'the task fails',
    (ledger) => run(ledger, { type: 'task.fail', by: 'lead', taskId: '1', reason: 'no use' }),
    'conflict',
    'Task 1 is failed now: its work did not land',
  ],
])('a completion whose work waits is refused if %s', async (_, act, code, message) => {
  const { ledger, tasks, queued } = await openApart();
  const waiting = tasks.completeTask(TEAM, '1', 'ann');
  await queued();
  await act(ledger);
  await expect(waiting).rejects.toMatchObject({ code, message: expect.stringContaining(message) as string });
});

test('work that cannot be handed in goes back to its holder, and counts as a try', async () => {
  const { tasks, saver, get } = await openApart();
  saver.saved = { ...saver.saved, problem: 'a merge is under way' };
  await expect(tasks.completeTask(TEAM, '1', 'ann')).rejects.toMatchObject({
    code: 'gate_rejected',
    message: 'a merge is under way',
  });
  expect(await get()).toMatchObject({ status: 'in_progress', rejections: 1, feedback: 'a merge is under way' });
});

test.each([
  ['by completing', (tasks: SharedTaskList) => tasks.completeTask(TEAM, '1', 'ann')],
  ['by an update', (tasks: SharedTaskList) => tasks.updateTask(TEAM, '1', { status: 'completed' }, 'ann')],
])('work without changes is judged at once and needs no landing, %s', async (_, finish) => {
  const { tasks, saver } = await openApart({ exitCode: 0 });
  saver.files = 0;
  expect(await finish(tasks)).toMatchObject({ status: 'completed', work: { state: 'unchanged' } });
  const strict = await openApart({ exitCode: 2 });
  strict.saver.files = 0;
  await expect(finish(strict.tasks)).rejects.toMatchObject({ code: 'gate_rejected', message: 'no tests' });
});

test('nothing is saved for a completion that is refused, or of a task that nobody holds apart', async () => {
  const { ledger, tasks, saver } = await openApart();
  await run(ledger, task('two'), task('three'), task('four', { assigneeId: 'cyd' }));
  await tasks.claimTask(TEAM, '3', 'bob');
  await expect(tasks.completeTask(TEAM, '1', 'bob')).rejects.toMatchObject({ code: 'not_allowed' });
  await expect(tasks.completeTask(TEAM, '9', 'ann')).rejects.toMatchObject({ code: 'not_found' });
  expect(await tasks.completeTask(TEAM, '2', USER)).toMatchObject({ status: 'completed' });
  expect(await tasks.completeTask(TEAM, '3', 'bob')).toMatchObject({ status: 'completed' });
  // It is reserved for a member that works apart, but nobody has begun.
  expect(await tasks.completeTask(TEAM, '4', USER)).toMatchObject({ status: 'completed' });
  expect(saver.calls).toEqual([]);
});

test('a daemon that does not run the holder is refused', async () => {
  const { tasks, saver } = await openApart();
  const elsewhere = { onHost: 'another' };
  await expect(tasks.completeTask(TEAM, '1', 'ann', elsewhere)).rejects.toMatchObject({ code: 'member_stopped' });
  const update = tasks.updateTask(TEAM, '1', { title: 'x' }, 'ann', elsewhere);
  await expect(update).rejects.toMatchObject({ code: 'member_stopped' });
  expect(saver.calls).toEqual([]);
});

/** A person is asked about the work of task 1, which no gate could judge. */
async function openAsked(detail: { result?: string } = {}) {
  const apart = await openApart();
  const { ledger, saver } = apart;
  await run(ledger, { type: 'task.reject', by: SYSTEM, taskId: '1', feedback: 'no program', unable: true, ...detail });
  const [asked] = await ledger.view(TEAM, ({ requests }) => [...requests.keys()]);
  const answer = (approve = true, works: WorkSaver | undefined = saver) =>
    answerRequest(ledger, works, { teamId: TEAM, input: { requestId: asked as string, approve }, once: {} });
  return { ...apart, answer };
}

test('a yes of a person lands the work as it is, with the result that was given', async () => {
  const { answer, saver, get } = await openAsked({ result: 'done' });
  expect(await answer()).toMatchObject({ status: 'approved' });
  expect(await get()).toMatchObject({ status: 'completed', work: { state: 'landed', merged: commit(5) } });
  expect(saver.calls).toEqual(['save', 'merge', 'settled']);
});

test('a yes to a question that has no result lands the work, too', async () => {
  const { ledger, saver } = await openApart();
  const asked = { memberId: 'ann', kind: 'gate', taskId: '1', content: 'Is it good?' } as const;
  await run(ledger, { type: 'request.raise', by: SYSTEM, ...asked });
  const [requestId = ''] = await ledger.view(TEAM, ({ requests }) => [...requests.keys()]);
  await answerRequest(ledger, saver, { teamId: TEAM, input: { requestId, approve: true }, once: {} });
  expect(saver.calls).toEqual(['save', 'merge', 'settled']);
});

test('a no, a yes without workspaces, and a yes about a task that nobody holds any more land nothing', async () => {
  const refused = await openAsked();
  expect(await refused.answer(false)).toMatchObject({ status: 'rejected' });
  expect(refused.saver.calls).toEqual([]);
  const plain = await openAsked();
  expect(await answerRequestWithout(plain)).toMatchObject({ status: 'approved' });
  expect(plain.saver.calls).toEqual([]);
  const gone = await openApart();
  await run(gone.ledger, {
    type: 'request.raise',
    by: SYSTEM,
    memberId: 'bob',
    kind: 'gate',
    taskId: '1',
    content: 'Is it good?',
  });
  await run(gone.ledger, { type: 'task.release', by: 'lead', taskId: '1' });
  const [requestId = ''] = await gone.ledger.view(TEAM, ({ requests }) => [...requests.keys()]);
  const input = { requestId, approve: true };
  await answerRequest(gone.ledger, gone.saver, { teamId: TEAM, input, once: {} }).catch(() => undefined);
  expect(gone.saver.calls).toEqual([]);
});

function answerRequestWithout({ ledger }: { ledger: Ledger }) {
  return ledger
    .view(TEAM, ({ requests }) => [...requests.keys()][0] as string)
    .then((requestId) =>
      answerRequest(ledger, undefined, { teamId: TEAM, input: { requestId, approve: true }, once: {} }),
    );
}

test.each([
  ['what is there is merged', false, ['save', 'merge', 'settled']],
  ['nothing is merged while its conflict is open, so that no marker lands', true, ['save']],
])('after a yes to work that cannot be handed in, %s', async (_, isConflicted, calls) => {
  const { ledger, tasks, saver } = await openApart();
  if (isConflicted) {
    await tasks.completeTask(TEAM, '1', 'ann', { wait: 1 });
    const size = { files: 1, added: 1, removed: 0, paths: ['a.txt'] };
    const saved = { memberId: 'ann', epoch: 1, base: commit(1), commit: commit(2), onto: commit(1), ...size };
    const feedback = 'It conflicts with what landed';
    const work = { ...saved, conflicts: ['a.txt'] };
    await run(ledger, { type: 'task.reject', by: SYSTEM, taskId: '1', feedback, commit: commit(2), work });
  }
  await run(ledger, { type: 'task.reject', by: SYSTEM, taskId: '1', feedback: 'no program', unable: true });
  const requestId = await ledger.view(TEAM, ({ requests }) => [...requests.keys()].at(-1) as string);
  saver.saved = { ...saver.saved, problem: 'a merge is under way' };
  saver.calls.length = 0;
  await answerRequest(ledger, saver, { teamId: TEAM, input: { requestId, approve: true }, once: {} });
  expect(saver.calls).toEqual(calls);
});

test('a yes fails with what went wrong, although the branch moved meanwhile', async () => {
  const { ledger, tasks, saver, answer } = await openAsked();
  await run(ledger, task('two'));
  await tasks.claimTask(TEAM, '2', 'cyd');
  await tasks.completeTask(TEAM, '2', 'cyd', { wait: 1 });
  const error = new TeamError('storage', 'no space');
  saver.calls.length = 0;
  saver.beforeMerge = async () => {
    await land(ledger, '2', commit(4));
    throw error;
  };
  await expect(answer()).rejects.toBe(error);
  expect(saver.calls).toEqual(['save', 'merge']);
});

test('a yes to a question about a task lands nothing, and an unknown request is refused', async () => {
  const { ledger, saver } = await openApart();
  await run(ledger, { type: 'request.raise', by: 'ann', memberId: 'ann', kind: 'question', taskId: '1', content: '?' });
  const [requestId = ''] = await ledger.view(TEAM, ({ requests }) => [...requests.keys()]);
  const say = (id: string) =>
    answerRequest(ledger, saver, { teamId: TEAM, input: { requestId: id, approve: true, feedback: 'yes' }, once: {} });
  await say(requestId);
  await expect(say('unknown')).rejects.toMatchObject({ code: 'not_found' });
  await expect(
    answerRequest(ledger, saver, { teamId: 'none', input: { requestId, approve: true }, once: {} }),
  ).rejects.toMatchObject({ code: 'not_found' });
  expect(saver.calls).toEqual([]);
});

test('work that the model refused joins the queue as such', async () => {
  const { tasks } = await openApart();
  expect(await tasks.completeTask(TEAM, '1', 'ann', { refused: true, wait: 1 })).toMatchObject({
    status: 'in_progress',
    work: { state: 'submitted', refused: true },
  });
});

test('a yes merges again while the branch moves, and fails if the merge does', async () => {
  const { ledger, tasks, saver, answer, get } = await openAsked();
  await run(ledger, task('two'));
  await tasks.claimTask(TEAM, '2', 'cyd');
  await tasks.completeTask(TEAM, '2', 'cyd', { wait: 1 });
  const failing = [new Error('no space'), new TeamError('stale_revision', 'not yet')];
  for (const error of failing) {
    saver.beforeMerge = () => Promise.reject(error);
    await expect(answer()).rejects.toBe(error);
  }
  saver.calls.length = 0;
  saver.beforeMerge = async () => {
    saver.beforeMerge = async () => undefined;
    await land(ledger, '2', commit(4));
  };
  expect(await answer()).toMatchObject({ status: 'approved' });
  expect(saver.calls).toEqual(['save', 'merge', 'merge', 'settled']);
  expect((await get()).work).toMatchObject({ state: 'landed', onto: commit(4) });
});
