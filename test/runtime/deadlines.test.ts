import { expect, onTestFinished, test } from 'vitest';
import { SYSTEM, USER } from '../../src/core/actor.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { keepDeadlines } from '../../src/runtime/deadlines.ts';
import { keepGates } from '../../src/runtime/gate-keeper.ts';
import { claim, createTask, createTeam, run, TEAM } from '../ledger/commands.ts';
import { openLedger } from '../ledger/places.ts';
import { until } from '../until.ts';

test('a permission that nobody gives in time is refused', async () => {
  const { ledger } = await setStage();
  await ask(ledger, { kind: 'permission', within: 30 });
  const request = await until('it is answered', () => answered(ledger));
  expect(request).toMatchObject({ status: 'rejected', answeredBy: SYSTEM, feedback: 'Nobody answered in time.' });
});

test('one that a person answered is not answered again', async () => {
  const { ledger, failures } = await setStage();
  const requestId = await ask(ledger, { kind: 'permission', within: 200 });
  const later = await ask(ledger, { kind: 'permission', within: 250 });
  await run(ledger, { type: 'request.answer', by: USER, requestId, approve: true });
  await until('the other one is', () => ledger.view(TEAM, (state) => state.requests.get(later)?.status === 'rejected'));
  expect(await answered(ledger)).toMatchObject({ status: 'approved', answeredBy: USER });
  expect(failures).toEqual([]);
});

test('one that waited when the daemon ended is refused by the next', async () => {
  const before = await setStage({ keep: false });
  await ask(before.ledger, { kind: 'budget', within: 1 });
  const after = await setStage({ journal: before.journal });
  await after.deadlines.start();
  await until('it is answered', () => answered(after.ledger));
});

test('work that a gate kept sending back has failed when nobody looks at it in time', async () => {
  const { ledger } = await setStage();
  const taskId = await createTask(ledger, 'Judged');
  await run(ledger, claim('ann', taskId));
  await ask(ledger, { kind: 'gate', taskId, within: 30, content: 'A gate sent it back.' });
  const task = await until('it has failed', () =>
    ledger.view(TEAM, ({ tasks }) => (tasks.get(taskId)?.status === 'failed' ? tasks.get(taskId) : undefined)),
  );
  expect(task.failure).toBe('A gate sent it back.\nNobody looked at it in time.');
});

async function setStage({ journal = memoryJournal(), keep = true } = {}) {
  const ledger = openLedger(journal);
  const failures: unknown[] = [];
  const deadlines = keepDeadlines(ledger, (error) => failures.push(error));
  const stopGates = keepGates(ledger, (error) => failures.push(error));
  onTestFinished(() => {
    deadlines.close();
    stopGates();
  });
  if (!keep) deadlines.close();
  const exists = await ledger.view(TEAM, ({ team }) => team !== undefined);
  if (!exists) await createTeam(ledger);
  return { ledger, journal, deadlines, failures };
}

function ask(
  ledger: Ledger,
  input: { kind: 'permission' | 'gate' | 'budget'; within: number; taskId?: string; content?: string },
) {
  const command = { type: 'request.raise', by: 'ann', memberId: 'ann', content: 'May I?', ...input } as const;
  return ledger.execute(TEAM, command, (_state, [raised]) =>
    raised?.type === 'request:raised' ? raised.requestId : '',
  );
}

function answered(ledger: Ledger) {
  return ledger.view(TEAM, ({ requests }) => [...requests.values()].find(({ status }) => status !== 'pending'));
}
