import { expect, onTestFinished, test } from 'vitest';
import { SYSTEM, USER } from '../../src/core/actor.ts';
import type { CommandOf } from '../../src/core/command.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { keepDeadlines } from '../../src/runtime/deadlines.ts';
import { claim, createTask, createTeam, run, TEAM } from '../ledger/commands.ts';
import { openLedger } from '../ledger/places.ts';
import { until } from '../until.ts';

test('a permission that nobody answers in time is refused', async () => {
  const { ledger } = await setStage();
  await ask(ledger, { kind: 'permission', within: 30 });
  const request = await until('it is answered', () => answered(ledger));
  expect(request).toMatchObject({ status: 'rejected', answeredBy: SYSTEM, feedback: 'Nobody answered in time.' });
});

test('a request that a person answered is not answered again', async () => {
  const now = Date.now();
  const { ledger, failures } = await setStage({ now: () => now });
  const answer = { type: 'request.answer', by: USER, requestId: `permission-${now}@ann`, approve: true } as const;
  // In one step: the deadline cannot pass before the answer, however slow the machine is.
  await run(ledger, asking({ kind: 'permission', within: 20 }), answer);
  const later = await ask(ledger, { kind: 'permission', within: 40 });
  await until('the other one is', () => ledger.view(TEAM, (state) => state.requests.get(later)?.status === 'rejected'));
  expect(await answered(ledger)).toMatchObject({ status: 'approved', answeredBy: USER });
  expect(failures).toEqual([]);
});

test('a request that was open when the daemon ended is refused by the next daemon', async () => {
  const before = await setStage({ keep: false });
  await ask(before.ledger, { kind: 'permission', within: 1 });
  const after = await setStage({ journal: before.journal });
  await after.deadlines.start();
  await until('it is answered', () => answered(after.ledger));
});

test("the default answer to a member's question counts when its deadline passes, once, also under two daemons", async () => {
  const before = await setStage({ keep: false });
  const question = { choices: ['a', 'b'], freeText: false, otherwise: 'go-on' as const, fallback: 'b' };
  await ask(before.ledger, { kind: 'question', within: 1, question });
  const after = await setStage({ journal: before.journal });
  await after.deadlines.start();
  const request = await until('it is answered', () => answered(after.ledger));
  expect(request).toMatchObject({ status: 'rejected', answeredBy: SYSTEM, choice: 'b' });
  const messages = await after.ledger.view(TEAM, (state) => [...state.messages.values()]);
  expect(messages).toMatchObject([{ toId: 'ann', content: expect.stringContaining('The answer: b') }]);
});

test('a task that a gate kept rejecting fails if nobody answers in time', async () => {
  const { ledger } = await setStage();
  const taskId = await createTask(ledger, 'Judged');
  await run(ledger, claim('ann', taskId));
  await ask(ledger, { kind: 'gate', taskId, within: 30, content: 'A gate sent it back.' });
  const task = await until('it has failed', () =>
    ledger.view(TEAM, ({ tasks }) => (tasks.get(taskId)?.status === 'failed' ? tasks.get(taskId) : undefined)),
  );
  expect(task.failure).toBe('A gate sent it back.\nNobody looked at it in time.');
});

test('a member that does not answer a shutdown request in time is shut down, by one of two daemons', async () => {
  const one = await setStage();
  const two = await setStage({ journal: one.journal });
  await two.deadlines.start();
  await run(one.ledger, { type: 'shutdown.request', by: USER, memberId: 'ann', reason: 'enough', within: 20 });
  await until('it is stopped', () => one.stopped.length + two.stopped.length > 0);
  const request = await answered(one.ledger);
  expect(request).toMatchObject({ kind: 'shutdown', status: 'approved', feedback: 'It did not answer in time.' });
  // A request after it is settled by both, so both have looked at this one.
  await ask(one.ledger, { kind: 'permission', within: 20 });
  await until('both have seen the next one', async () =>
    one.ledger.view(TEAM, ({ requests }) => [...requests.values()].every(({ status }) => status !== 'pending')),
  );
  expect([...one.stopped, ...two.stopped]).toEqual(['ann']);
});

async function setStage({ journal = memoryJournal(), keep = true, now = Date.now } = {}) {
  const ledger = openLedger(journal, { now });
  const failures: unknown[] = [];
  const stopped: string[] = [];
  const stop = async (_teamId: string, memberId: string): Promise<void> => void stopped.push(memberId);
  const deadlines = keepDeadlines(ledger, stop, (error) => failures.push(error));
  onTestFinished(() => deadlines.close());
  if (!keep) deadlines.close();
  const exists = await ledger.view(TEAM, ({ team }) => team !== undefined);
  if (!exists) await createTeam(ledger);
  return { ledger, journal, deadlines, failures, stopped };
}

interface Question {
  readonly kind: 'permission' | 'gate' | 'question';
  readonly within: number;
  readonly taskId?: string;
  readonly content?: string;
  readonly question?: CommandOf<'request.raise'>['question'];
}

function asking(question: Question) {
  const by = question.kind === 'gate' ? SYSTEM : 'ann';
  return { type: 'request.raise', by, memberId: 'ann', content: 'May I?', ...question } as const;
}

function ask(ledger: Ledger, question: Question) {
  return ledger.execute(TEAM, asking(question), (_state, [raised]) =>
    raised?.type === 'request:raised' ? raised.requestId : '',
  );
}

function answered(ledger: Ledger) {
  return ledger.view(TEAM, ({ requests }) => [...requests.values()].find(({ status }) => status !== 'pending'));
}
