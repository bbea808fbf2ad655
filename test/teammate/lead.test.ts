import { expect, test } from 'vitest';
import { TeamError } from '../../src/core/errors.ts';
import { openTeam } from '../mcp/house.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { ask, Cancelled, holding, startMember } from './member.ts';

test('gets its goal and the state of its team, then one digest when the work is settled, and answers', async () => {
  const house = await openTeam(['ada'], { leadPrompt: 'Make three' });
  const { create, member } = ask(house);
  const lead = startMember(house, 'lead', ({ digest }) => `heard: ${digest?.split('\n').at(-1)}`);
  await until('it was told its goal', async () => (await member('lead')).status === 'idle');
  expect(lead.turns[0]?.text).toMatch(/^Make three\n\nWhere your team stands:\nTeam demo\./);
  await create('One');
  await create('Two');
  await create('Three');
  const ada = startMember(house, 'ada', ({ task }) => `did ${task?.title}`);
  await until('it heard', () => lead.turns.length === 2);
  expect(ada.turns).toHaveLength(3);
  // Three completions and an idle notice are one turn, not four.
  expect(lead.turns[1]?.digest).toContain('#2 completed: Two (ada) — did Two');
  await until('it rests', async () => (await member('lead')).status === 'idle');
  const { metadata } = await member('lead');
  expect(metadata).toMatchObject({ knows: expect.any(Number) });
  expect(metadata?.['failure']).toBeUndefined();
});

test('whose process ends before it finished its first turn is told its goal by the next process, and only then', async () => {
  const house = await openTeam(['ada'], { leadPrompt: 'Make three' });
  const { member, send } = ask(house);
  const how = { folder: temporaryFolder(), abilities: { resume: true }, resume: 'the-session' };
  const unheard = holding();
  const first = startMember(house, 'lead', unheard.play, how);
  await unheard.begun;
  first.stop();
  await first.ended;
  const second = startMember(house, 'lead', () => 'heard', how);
  await until('it has heard', async () => (await member('lead')).metadata?.['knows']);
  expect(second.turns[0]?.text).toMatch(/^Make three\n/);
  second.stop();
  await second.ended;
  const third = startMember(house, 'lead', () => 'heard', how);
  await send('lead', 'go on');
  await until('it was woken', () => third.turns.length > 0);
  expect(third.turns[0]?.text).toMatch(/^News of your team:/);
});

test('is woken by messages, not by its own changes', async () => {
  const house = await openTeam(['ada']);
  const { send, member } = ask(house);
  const lead = startMember(house, 'lead', () => 'heard');
  await until('it was told its goal', async () => (await member('lead')).status === 'idle');
  await house.call('task.create', { teamId: 'demo', title: 'Mine' }, 'lead');
  await send('lead', 'hello');
  await until('it was woken', () => lead.turns.length === 2);
  expect(lead.turns[1]).toMatchObject({ messages: [{ content: 'hello' }] });
});

test('does only the tasks reserved for it, even if one of them cannot be claimed', async () => {
  const house = await openTeam(['ada']);
  const { create, task } = ask(house);
  await create('Free');
  await create('Broken', { assigneeId: 'lead' });
  await create('Mine', { assigneeId: 'lead' });
  const lead = startMember(house, 'lead', (turn) => `did ${turn.task?.title ?? 'digest'}`);
  lead.rules.set('task.claim', async (next, input) => {
    if ((input as { taskId: string }).taskId === '2') throw new TeamError('corrupt', 'its file is broken');
    return next();
  });
  await until('it did its own', async () => (await task('3')).status === 'completed');
  expect([(await task('1')).status, (await task('2')).status]).toEqual(['pending', 'pending']);
});

test('that failed gets the same text again when something happens, and the reason is visible', async () => {
  const house = await openTeam(['ada']);
  const { member, send } = ask(house);
  let isMended = false;
  const lead = startMember(house, 'lead', () => {
    if (!isMended) throw new Error('broken');
    return 'heard';
  });
  await until('its failure is seen', async () => (await member('lead')).metadata?.['failure'] === 'broken');
  isMended = true;
  await send('lead', 'again');
  await until('it was told again', async () => (await member('lead')).metadata?.['knows']);
  expect((await member('lead')).metadata?.['failure']).toBeUndefined();
  expect(lead.turns.slice(0, 2).map(({ digest }) => digest?.includes('Team demo'))).toEqual([true, true]);
});

test('whose turn was cancelled gets the same text in the next one', async () => {
  const house = await openTeam(['ada']);
  const { member, send } = ask(house);
  const lead = startMember(house, 'lead', (_turn, { count }) => {
    if (count === 1) throw new Cancelled();
    return 'heard';
  });
  await send('lead', 'go on');
  await until('it was told again', async () => (await member('lead')).metadata?.['knows']);
  expect(lead.turns.slice(0, 2).map(({ digest }) => digest?.includes('Team demo'))).toEqual([true, true]);
});

test('is woken for a waiting plan, judges it, and gets the result of the work', async () => {
  const house = await openTeam([]);
  await house.call('member.add', { teamId: 'demo', name: 'ada', planApprovalRequired: true });
  const lead = startMember(house, 'lead', async ({ digest = '' }) => {
    for (const [, requestId = '', plan = ''] of digest.matchAll(/\(request_id ([^)]+)\):\n<[^>]*>\n([^]*?)\n<\//g)) {
      const isGood = plan.includes('carefully');
      if (isGood) await house.call('plan.approve', { teamId: 'demo', requestId }, 'lead');
      else await house.call('plan.reject', { teamId: 'demo', requestId, feedback: 'do it carefully' }, 'lead');
    }
    return 'heard';
  });
  const ada = startMember(
    house,
    'ada',
    ({ plan, feedback }) => (plan ? `I will${feedback ? `: ${feedback}` : ''}` : 'did it'),
    { mode: 'plan' },
  );
  await ask(house).create('Tidy');
  await until('the lead heard', () => lead.turns.some(({ digest }) => digest?.includes('Tasks: 1 completed')));
  expect(ada.turns.map(({ plan, feedback }) => [plan, feedback])).toEqual([
    [true, undefined],
    [true, 'do it carefully'],
    [undefined, undefined],
  ]);
});
