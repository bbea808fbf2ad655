import { expect, test } from 'vitest';
import { USER } from '../../../src/core/actor.ts';
import { viewQueue, wordLanding } from '../../../src/core/queue-view.ts';
import type { TeamRequest } from '../../../src/core/request.ts';
import type { ReviewComment } from '../../../src/core/review.ts';
import { requireTask, viewTask } from '../../../src/core/view.ts';
import { answerRequest } from '../../../src/ledger/answer-request.ts';
import { join, run, TEAM } from '../../ledger/commands.ts';
import { verdict } from '../../ledger/task-lists.ts';
import { until } from '../../until.ts';
import { openQueueStage } from './stage.ts';
import type { QueueStage } from './stage.ts';

async function waitingFor(stage: QueueStage, member: string): Promise<TeamRequest> {
  const look = (): Promise<TeamRequest | undefined> =>
    stage.ledger.view(TEAM, ({ requests }) =>
      [...requests.values()].find(({ status, taskId }) => status === 'pending' && taskId === stage.taskOf(member)),
    );
  await until(`a question about the work of ${member}`, async () => (await look()) !== undefined);
  return (await look()) as TeamRequest;
}

function answer(
  stage: QueueStage,
  { id: requestId }: TeamRequest,
  input: { approve: boolean; feedback?: string; comments?: ReviewComment[] },
): Promise<TeamRequest> {
  return answerRequest(stage.ledger, undefined, { teamId: TEAM, input: { requestId, ...input }, once: {} });
}

test('asks a person after the gates accepted it, lets others land meanwhile, and lands it as it was judged', async () => {
  const members = ['ann', 'bob'];
  const work = { approve: { paths: ['db/**'] } };
  const stage = await openQueueStage({ members, work, gate: () => verdict(0) });
  stage.write('ann', { 'db/1.sql': '1' });
  const ann = stage.complete('ann');
  const request = await waitingFor(stage, 'ann');
  expect(request).toMatchObject({ kind: 'work', memberId: 'ann', detail: { files: 1, added: 1 } });
  expect(await stage.work()).toMatchObject({ queue: [] });
  // It is shown beside the queue, with who is waited for and since when.
  const since = request.requestedAt.getTime();
  expect(await stage.ledger.view(TEAM, viewQueue)).toMatchObject({
    entries: [],
    asked: [{ taskId: '1', memberId: 'ann', files: 1, added: 1, removed: 0, since }],
  });
  const shown = await stage.ledger.view(TEAM, (state) => viewTask(state, requireTask(state, '1')));
  expect(shown.work).toMatchObject({ state: 'asked', waitsFor: { since } });
  expect(wordLanding(shown.work ?? {})).toBe('waits for a person to approve it');
  expect(stage.asked).toHaveLength(1);
  await answer(stage, request, { approve: true });
  expect(await ann).toMatchObject({ status: 'completed', result: 'ann is done', work: { state: 'landed' } });
  expect(await stage.ledger.view(TEAM, viewQueue)).toMatchObject({ entries: [], asked: [] });
  // No second run of the gates.
  expect(stage.asked).toHaveLength(1);
  expect(stage.repository.files(await stage.tipNow())).toEqual({ 'db/1.sql': '1' });
  stage.write('bob', { b: '1' });
  expect(await stage.complete('bob')).toMatchObject({ status: 'completed' });
});

test('judges approved work again if the branch has moved, and does not ask again', async () => {
  const stage = await openQueueStage({
    members: ['ann', 'bob'],
    work: { approve: { paths: ['db/**'] } },
    gate: () => verdict(0),
  });
  stage.write('ann', { 'db/1.sql': '1' });
  stage.write('bob', { b: '1' });
  const ann = stage.complete('ann');
  const request = await waitingFor(stage, 'ann');
  await stage.complete('bob');
  await answer(stage, request, { approve: true });
  expect(await ann).toMatchObject({ status: 'completed', work: { state: 'landed' } });
  expect(stage.repository.files(await stage.tipNow())).toEqual({ 'db/1.sql': '1', b: '1' });
  expect(stage.asked.at(-1)).toMatchObject({ taskId: '1', where: 'landing', files: { 'db/1.sql': '1', b: '1' } });
  expect((await stage.events()).filter((type) => type === 'request:raised')).toHaveLength(1);
});

test('never lands together with others what has to be approved', async () => {
  const members = ['ann', 'bob', 'cyd', 'dan'];
  const stage = await openQueueStage({ members, work: { approve: { paths: ['db/**'] } }, queueStarts: false });
  for (const name of members) stage.write(name, { [name === 'bob' ? 'db/1.sql' : name]: '1' });
  const all = members.map((name) => stage.complete(name));
  await until('all wait', async () => (await stage.work())?.queue?.length === 4);
  await stage.queues.start();
  const request = await waitingFor(stage, 'bob');
  expect(await Promise.all(all.filter((_, i) => i !== 1))).toMatchObject(
    members.slice(1).map(() => ({ status: 'completed' })),
  );
  expect(stage.repository.files(await stage.tipNow())).toEqual({ ann: '1', cyd: '1', dan: '1' });
  await answer(stage, request, { approve: true });
  expect(await all[1]).toMatchObject({ status: 'completed' });
  expect(stage.repository.files(await stage.tipNow())).toMatchObject({ 'db/1.sql': '1' });
});

test('sends it back with the comments of a person; the next hand-in is asked about again', async () => {
  const stage = await openQueueStage({ members: ['ann'], work: { approve: 'always' }, gate: () => verdict(0) });
  stage.write('ann', { a: '1' });
  const first = stage.complete('ann').catch((error: unknown) => error);
  // A name of any kind is one line in the text.
  const comments = [
    { path: 'a', line: 1, text: 'make it 2' },
    { path: 'odd\nname', line: 3, side: 'old' as const, text: 'why?' },
  ];
  await answer(stage, await waitingFor(stage, 'ann'), { approve: false, feedback: 'Nearly.', comments });
  expect(await first).toMatchObject({
    code: 'gate_rejected',
    message: expect.stringMatching(
      /^A person reviewed commit \w{7} and sends it back\.\nNearly\.\n\na:1: make it 2\nodd name:3 \(removed\): why\?$/,
    ),
  });
  stage.write('ann', { a: '2' });
  const second = stage.complete('ann');
  await answer(stage, await waitingFor(stage, 'ann'), { approve: true });
  expect(await second).toMatchObject({ status: 'completed' });
  expect(stage.repository.files(await stage.tipNow())).toEqual({ a: '2' });
});

function aboutOf({ taskId = '', detail }: TeamRequest): { taskId: string; commit: string } {
  return { taskId, commit: String(detail?.['commit']) };
}

test('lands what the reviewer approves; the queue does not wait for it', async () => {
  const stage = await openQueueStage({ members: ['ann', 'bob'], work: { review: 'eyes' }, gate: () => verdict(0) });
  await run(stage.ledger, join('eyes', { agent: { kind: 'exec', command: ['true'] } }));
  stage.write('ann', { a: '1' });
  stage.write('bob', { b: '1' });
  const ann = stage.complete('ann');
  const bob = stage.complete('bob');
  const [one, other] = [await waitingFor(stage, 'ann'), await waitingFor(stage, 'bob')];
  expect([one, other]).toMatchObject([
    { kind: 'review', memberId: 'eyes' },
    { kind: 'review', memberId: 'eyes' },
  ]);
  const { asked } = await stage.ledger.view(TEAM, viewQueue);
  expect(asked).toHaveLength(2);
  expect(asked).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ taskId: '1', memberId: 'ann', reviewerId: 'eyes' }),
      expect.objectContaining({ taskId: '2', memberId: 'bob', reviewerId: 'eyes' }),
    ]),
  );
  const review = (request: TeamRequest, by: string) =>
    run(stage.ledger, { type: 'work.review', by, ...aboutOf(request), approve: true });
  await review(other, 'eyes');
  await review(one, USER);
  expect(await Promise.all([ann, bob])).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
  expect(stage.repository.files(await stage.tipNow())).toEqual({ a: '1', b: '1' });
});

test('a rejected landing is no longer the last one once the gates accept the next try, or its task is over', async () => {
  const gate = ({ files }: { readonly files: Readonly<Record<string, string>> }) =>
    Object.values(files).includes('bad') ? verdict(2, { stderr: 'bad' }) : verdict(0);
  const stage = await openQueueStage({ members: ['ann', 'bob'], work: { approve: { paths: ['a'] } }, gate });
  const last = () => stage.ledger.view(TEAM, (state) => viewQueue(state).ended);
  const reject = async (member: string): Promise<void> => {
    await expect(stage.complete(member)).rejects.toMatchObject({ code: 'gate_rejected' });
    expect(await last()).toMatchObject({ how: 'red', tasks: [stage.taskOf(member)] });
  };
  stage.write('ann', { a: 'bad' });
  await reject('ann');
  stage.write('ann', { a: 'good' });
  const ann = stage.complete('ann');
  const request = await waitingFor(stage, 'ann');
  expect(await last()).toBeUndefined();
  await answer(stage, request, { approve: true });
  await ann;
  stage.write('bob', { b: 'bad' });
  await reject('bob');
  // It takes its changes back: nothing has to land.
  stage.folders.set('bob', { ...stage.folders.get('bob')!, files: {} });
  expect(await stage.complete('bob')).toMatchObject({ status: 'completed', work: { state: 'unchanged' } });
  expect(await last()).toBeUndefined();
});
