import { expect, test } from 'vitest';
import type { TeamState } from '../../src/core/state.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { fullDigest, gather, makeDigest } from '../../src/runtime/digest.ts';
import { parseTeamFile } from '../../src/runtime/team-file/parse.ts';
import { raiseTeam } from '../../src/runtime/team-file/raise.ts';
import { teamOf } from '../core/stage.ts';
import { openLedger } from '../ledger/places.ts';
import { WORK } from '../samples/work.ts';

const LED = `team: led
lead: { agent: { exec: [sh, lead.sh] }, prompt: Lead them }
members:
  - { name: coder, agent: { exec: [sh, work.sh] } }
  - { name: tester, agent: { exec: [sh, work.sh] } }
`;

test('a lead that starts before its teammates still learns of them', async () => {
  const ledger = openLedger(memoryJournal());
  await raiseTeam(ledger, parseTeamFile(LED, 'troupe.yaml'), { folder: '/somewhere' });
  const { text } = await ledger.view('led', fullDigest);
  expect(text).toContain('starting: coder, tester.');
  expect(text).not.toContain('No teammates');
});

test('a lead learns in one line each what landed, what went back and why, and what waits', () => {
  const stage = teamOf('ann', 'bob', 'cid');
  const work = (taskId: string, more: object) => {
    const task = stage.state.tasks.get(taskId);
    if (task) stage.state.tasks.set(taskId, { ...task, status: 'in_progress', assigneeId: 'bob', ...more } as never);
  };
  for (const state of ['landed', 'begun', 'submitted']) work(stage.task(), { work: { state } });
  work('1', { status: 'completed' });
  Object.assign(stage.state.team ?? {}, { work: { ...WORK, tip: WORK.base, queue: ['3'] } });
  const happened = gather(0, 'lead');
  const event = (type: string, data: object) => ({ type, at: 1, by: '@system', ...data }) as never;
  happened.add({
    seq: 1,
    events: [
      event('work:landed', { taskId: '1' }),
      event('task:completed', { taskId: '1' }),
      event('task:rejected', { taskId: '2', feedback: 'npm test fails\nin a.test.ts' }),
      event('task:rejected', { taskId: '3', feedback: 'handed in again since' }),
    ],
  });
  const { text } = makeDigest(stage.state, happened);
  expect(text).toContain(
    'Landed on troupe/alpha: #1.\nSent back: #2 (bob: npm test fails in a.test.ts).\nWaits to land: #3.\n',
  );
});

test('a lead is not woken for members that stop because their team shuts down', async () => {
  const ledger = openLedger(memoryJournal());
  await raiseTeam(ledger, parseTeamFile(LED, 'troupe.yaml'), { folder: '/somewhere' });
  for (const memberId of ['coder', 'tester']) {
    const leave = { type: 'member.leave', by: '@system', memberId, returning: false } as const;
    await ledger.execute('led', leave, () => undefined);
  }
  const happened = gather(0, 'lead');
  happened.hasChanged = true;
  const digest = (state: TeamState) => makeDigest(state, happened);
  expect(await ledger.view('led', digest)).toMatchObject({ settled: true, due: true });
  await ledger.execute('led', { type: 'team.update', by: '@user', status: 'shutting-down' }, () => undefined);
  expect(await ledger.view('led', digest)).toMatchObject({ settled: true, due: false });
});
