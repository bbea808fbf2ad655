import { expect, test } from 'vitest';
import { ADMIN } from '../../src/operations/caller.ts';
import { connect, LEAD, member, openTeam, refusal, use } from './house.ts';

test('creates, lists and shows tasks in the words that agents know', async () => {
  const lead = await connect(await openTeam(), LEAD);
  const first = await use(lead, 'TaskCreate', { subject: 'First', description: 'do first', activeForm: 'Doing first' });
  expect(first.text).toBe('Task #1 created successfully: First');
  expect(first.data.task).toMatchObject({ id: '1', subject: 'First', status: 'pending', blockedBy: [] });
  await use(lead, 'TaskCreate', { subject: 'Second', description: '', blockedBy: ['1'], owner: 'alice' });
  expect((await use(lead, 'TaskList')).text).toBe('#1 [pending] First\n#2 [pending] Second (alice) [blocked by #1]');
  expect((await use(lead, 'TaskGet', { taskId: '1' })).text).toBe(
    'Task #1: First\nStatus: pending\nDescription: do first\nBlocks: #2',
  );
  expect((await use(lead, 'TaskGet', { taskId: '2' })).data.task).toMatchObject({ owner: 'alice', blockedBy: ['1'] });
});

test('says why nobody can claim a task, also if it waits for another one', async () => {
  const house = await openTeam();
  const lead = await connect(house, LEAD);
  await use(lead, 'TaskCreate', { subject: 'First', description: '' });
  await use(lead, 'TaskCreate', { subject: 'Second', description: '', blockedBy: ['1'] });
  for (const taskId of ['1', '2']) {
    const withhold = { type: 'task.update', by: '@system', taskId, withheld: 'a broken file' } as const;
    await house.services.ledger.execute('demo', withhold, () => undefined);
  }
  const { text, data } = await use(lead, 'TaskList');
  expect(text).toBe(
    '#1 [pending] First [is withheld: a broken file]\n#2 [pending] Second [is withheld: a broken file, blocked by #1]',
  );
  expect(data.tasks[0]).toMatchObject({ blockedBy: [], blockedReason: 'is withheld: a broken file' });
  const second = await use(lead, 'TaskGet', { taskId: '2' });
  expect(second.text).toContain('\nBlocked by: #1\nNot free: it is withheld: a broken file');
});

test('says that there are no tasks, and lists a limited number', async () => {
  const house = await openTeam();
  const lead = await connect(house, LEAD);
  expect((await use(lead, 'TaskList')).text).toContain('No tasks found');
  for (let i = 0; i < 230; i++) await house.call('task.create', { teamId: 'demo', title: `T${i}` });
  for (let i = 1; i <= 50; i++) await house.call('task.complete', { teamId: 'demo', taskId: String(i) });
  const { text, data } = await use(lead, 'TaskList');
  expect(data).toMatchObject({ not_listed: 30, more: true, after: '0' });
  expect(data.tasks).toHaveLength(200);
  expect(text).toMatch(/^#31 \[completed\] T30\n/);
  expect(text).toMatch(/\.\.\. and 30 more: TaskList with after "0" continues in the order of ids$/);
  const first = await use(lead, 'TaskList', { after: '0' });
  expect(first.data).toMatchObject({ not_listed: 30, more: true, after: '200' });
  const rest = await use(lead, 'TaskList', { after: first.data.after });
  expect(rest.data.tasks.map(({ id }: { id: string }) => id)).toEqual(
    Array.from({ length: 30 }, (_, i) => `${201 + i}`),
  );
  expect(rest.data).not.toHaveProperty('more');
  expect((await use(lead, 'TaskList', { after: '230' })).text).toBe('No tasks come after #230.');
});

test('claims a task, completes it with a result, and names the next', async () => {
  const house = await openTeam();
  await house.call('task.create', { teamId: 'demo', title: 'First', description: 'Do it.' });
  await house.call('task.create', { teamId: 'demo', title: 'Second', dependencies: ['1'] });
  const [alice, bob] = [await connect(house, member('alice')), await connect(house, member('bob'))];

  const claimed = await use(alice, 'TaskClaim');
  expect(claimed.text).toContain('Claimed. Task #1: First');
  expect(claimed.text).toContain('call TaskComplete with taskId "1"');
  expect(claimed.data.task).toMatchObject({ id: '1', owner: 'alice', status: 'in_progress' });

  expect(await refusal(bob, 'TaskClaim', { taskId: '1' })).toBe('claim_conflict');
  expect(await refusal(bob, 'TaskClaim', { taskId: '2' })).toBe('blocked');
  expect((await use(bob, 'TaskClaim')).text).toBe(
    'No task is ready for you (1 blocked, 1 in progress). Call TaskClaim with wait_seconds to wait.',
  );
  expect(await refusal(bob, 'TaskComplete', { taskId: '1', result: 'mine' })).toBe('not_allowed');

  const completed = await use(alice, 'TaskComplete', { taskId: '1', result: 'It works.' });
  expect(completed.text).toBe('Task #1 completed. Call TaskClaim for your next task.');
  expect((await use(bob, 'TaskGet', { taskId: '1' })).text).toMatch(/Status: completed.*Result: It works\.$/s);
  expect((await use(bob, 'TaskClaim')).data.task).toMatchObject({ id: '2', owner: 'bob' });
});

test('names the open dependencies when a lead completes a blocked task', async () => {
  const house = await openTeam();
  for (const title of ['First', 'Second']) await house.call('task.create', { teamId: 'demo', title });
  for (const title of ['Third', 'Fourth']) {
    await house.call('task.create', { teamId: 'demo', title, dependencies: ['1', '2'] });
  }
  await house.call('task.complete', { teamId: 'demo', taskId: '1' });
  const lead = await connect(house, LEAD);
  const skipped = ', though it was waiting for #2, which is not completed';
  expect((await use(lead, 'TaskComplete', { taskId: '3' })).text).toContain(`Task #3 completed${skipped}.`);
  expect((await use(lead, 'TaskUpdate', { taskId: '4', status: 'completed' })).text).toContain(`status${skipped}`);
  expect((await use(lead, 'TaskComplete', { taskId: '2' })).text).toContain('Task #2 completed. ');
});

test('refuses writes of a session to a task that it lost, even if the same member holds it again', async () => {
  const house = await openTeam();
  await house.call('task.create', { teamId: 'demo', title: 'First' });
  const before = await connect(house, member('alice'));
  await use(before, 'TaskClaim');
  await house.call('task.release', { teamId: 'demo', taskId: '1' });
  const after = await connect(house, member('alice'));
  await use(after, 'TaskClaim');
  expect(await refusal(before, 'TaskComplete', { taskId: '1', result: 'late' })).toBe('stale_epoch');
  expect(await refusal(before, 'TaskUpdate', { taskId: '1', status: 'completed' })).toBe('stale_epoch');
  expect((await use(after, 'TaskComplete', { taskId: '1' })).isError).toBe(false);
});

test('a session that lost a task can neither take nor release it from another session of its member', async () => {
  const house = await openTeam();
  for (const title of ['First', 'Second']) await house.call('task.create', { teamId: 'demo', title });
  const before = await connect(house, member('alice'));
  await use(before, 'TaskClaim', { taskId: '1' });
  await house.call('task.release', { teamId: 'demo', taskId: '1' });
  const after = await connect(house, member('alice'));
  await use(after, 'TaskClaim', { taskId: '1' });
  const seen = (await house.events('demo')).length;
  for (const change of [
    { status: 'in_progress' },
    { status: 'in_progress', owner: 'alice' },
    { status: 'in_progress', owner: 'bob' },
    { status: 'pending' },
    { status: 'pending', owner: 'alice' },
    { status: 'completed' },
    { owner: '' },
    { owner: 'bob' },
    { owner: '', subject: 'Other words' },
  ]) {
    expect(await refusal(before, 'TaskUpdate', { taskId: '1', ...change }), JSON.stringify(change)).toBe('stale_epoch');
  }
  const again = await use(before, 'TaskClaim', { taskId: '1' });
  expect(again.isError).toBe(true);
  expect(again.text).toContain('You already hold task 1 (epoch 3, since ');
  expect(again.text).toContain('If another session of yours works on it, leave it to that one.');
  expect(await refusal(before, 'TaskComplete', { taskId: '1', result: 'late' })).toBe('stale_epoch');
  expect(await house.events('demo')).toHaveLength(seen);

  expect((await use(after, 'TaskUpdate', { taskId: '1', status: 'in_progress' })).text).toContain('You hold it now.');
  expect((await use(after, 'TaskClaim', { taskId: '1' })).text).toContain('You already hold task 1: work on it');
  expect((await use(after, 'TaskUpdate', { taskId: '1', owner: '' })).isError).toBe(false);
  // A free task can be claimed by any session, even one that lost it before.
  expect((await use(before, 'TaskUpdate', { taskId: '1', status: 'in_progress' })).text).toContain('You hold it now.');
  expect(await refusal(after, 'TaskUpdate', { taskId: '1', status: 'in_progress' })).toBe('stale_epoch');
  expect((await use(before, 'TaskComplete', { taskId: '1' })).isError).toBe(false);
});

test('a session that takes a task which its member holds gets a hint', async () => {
  const house = await openTeam();
  await house.call('task.create', { teamId: 'demo', title: 'First' });
  await use(await connect(house, member('alice')), 'TaskClaim');
  const other = await connect(house, member('alice'));
  expect((await use(other, 'TaskUpdate', { taskId: '1', status: 'in_progress' })).text).toMatch(
    /You held it already \(epoch 1, since \S+\). If another session of yours works on it, leave it to that one\./,
  );
  expect((await use(other, 'TaskUpdate', { taskId: '1', status: 'in_progress' })).text).toContain('You hold it now.');
});

test('refuses writes of a session whose claim is unknown, until it names the epoch', async () => {
  const house = await openTeam();
  await house.call('task.create', { teamId: 'demo', title: 'First' });
  const session = { session: 'one', began: Date.now() };
  await use(await connect(house, member('alice'), { greeting: session }), 'TaskClaim');
  await house.call('task.release', { teamId: 'demo', taskId: '1' });
  await use(await connect(house, member('alice')), 'TaskClaim');
  // As after a restart of the daemon: the same session, but its claims are unknown.
  const stale = await connect(house, member('alice'), { greeting: session });
  for (const [name, input] of [
    ['TaskComplete', { taskId: '1', result: 'late' }],
    ['TaskUpdate', { taskId: '1', status: 'completed' }],
    ['TaskUpdate', { taskId: '1', status: 'pending' }],
    ['TaskComplete', { taskId: '1', epoch: 1 }],
  ] as const) {
    expect(await refusal(stale, name, input)).toBe('stale_epoch');
  }
  const { text } = await use(stale, 'TaskComplete', { taskId: '1' });
  expect(text).toContain('check with TaskGet, and if it is yours pass its epoch (now 3)');
  expect((await use(stale, 'TaskGet', { taskId: '1' })).text).toMatch(/\nEpoch: 3, claimed \d{4}-/);
  // Reading the task is not enough: the call must name the epoch.
  expect(await refusal(stale, 'TaskComplete', { taskId: '1' })).toBe('stale_epoch');
  expect((await use(stale, 'TaskComplete', { taskId: '1', epoch: '3' })).isError).toBe(false);
});

test.each([
  ['that nobody gave back', 0],
  ['that another had before', 1],
])('lets a session whose claim is unknown complete a task %s', async (_which, others) => {
  const house = await openTeam();
  await house.call('task.create', { teamId: 'demo', title: 'First' });
  for (let i = 0; i < others; i++) {
    await house.call('task.claim', { teamId: 'demo', taskId: '1' }, 'bob');
    await house.call('task.release', { teamId: 'demo', taskId: '1' });
  }
  const greeting = { session: 'one', began: Date.now() };
  await use(await connect(house, member('alice'), { greeting }), 'TaskClaim');
  const after = await connect(house, member('alice'), { greeting });
  expect((await use(after, 'TaskComplete', { taskId: '1' })).isError).toBe(false);
});

test('searches the end of a long history for earlier claims, and asks if that is not enough', async () => {
  const house = await openTeam();
  const { ledger } = house.services;
  const write = async (): Promise<void> => {
    const update = { type: 'task.update', by: 'lead', taskId: '1' } as const;
    for (let i = 0; i < 2_100; i++) await ledger.execute('demo', { ...update, title: `Title ${i}` }, () => undefined);
  };
  await house.call('task.create', { teamId: 'demo', title: 'First' });
  await write();
  await house.call('task.claim', { teamId: 'demo', taskId: '1' }, 'bob');
  await house.call('task.release', { teamId: 'demo', taskId: '1' });
  await house.call('task.create', { teamId: 'demo', title: 'Second' });
  const greeting = { session: 'one', began: Date.now() };
  await use(await connect(house, member('alice'), { greeting }), 'TaskClaim', { taskId: '1' });
  const read = ledger.read.bind(ledger);
  let batches = 0;
  ledger.read = async function* (...given) {
    for await (const batch of read(...given)) {
      batches++;
      yield batch;
    }
  };
  const forgotten = await connect(house, member('alice'), { greeting });
  expect((await use(forgotten, 'TaskUpdate', { taskId: '1', status: 'in_progress' })).isError).toBe(false);
  expect(batches).toBe(2_000);

  await write();
  const later = await connect(house, member('alice'), { greeting });
  expect(await refusal(later, 'TaskComplete', { taskId: '1' })).toBe('stale_epoch');
  expect(batches).toBe(4_000);
  // The lead does not hold it, so it has lost no claim and may decide for others.
  const lead = await connect(house, LEAD, { greeting: { began: greeting.began } });
  expect((await use(lead, 'TaskComplete', { taskId: '1' })).isError).toBe(false);
});

test('lets a new session of a member complete a task that an earlier one claimed', async () => {
  const house = await openTeam();
  await house.call('task.create', { teamId: 'demo', title: 'First' });
  for (let i = 0; i < 2; i++) {
    await use(await connect(house, member('alice')), 'TaskClaim');
    if (i === 0) await house.call('task.release', { teamId: 'demo', taskId: '1' });
  }
  const later = await connect(house, member('alice'), { greeting: { began: Date.now() + 1 } });
  expect((await use(later, 'TaskComplete', { taskId: '1' })).isError).toBe(false);
});

test('keeps the claims of each team apart, and returns them for the next connection', async () => {
  const house = await openTeam();
  await house.call('team.create', { name: 'other' });
  await house.call('member.add', { teamId: 'other', name: 'alice' });
  for (const teamId of ['demo', 'other']) await house.call('task.create', { teamId, title: 'First' });
  const person = await connect(house, ADMIN, { greeting: { team: 'demo', as: 'alice', teams: true } });
  const claimed = await person.callTool({ name: 'TaskClaim', arguments: {} });
  expect(claimed).toMatchObject({ _meta: { 'troupe/session': { epochs: { 'demo/1': 1 } } } });
  await house.call('task.claim', { teamId: 'other', taskId: '1' }, 'alice');
  await house.call('task.release', { teamId: 'other', taskId: '1' });
  await use(person, 'TaskClaim', { team_name: 'other' });
  expect((await use(person, 'TaskComplete', { taskId: '1' })).isError).toBe(false);
  const ended = await person.callTool({ name: 'TaskComplete', arguments: { team_name: 'other', taskId: '1' } });
  expect(ended).toMatchObject({ _meta: { 'troupe/session': { epochs: {} } } });
});

test('lets a lead take a task that it held before from its holder', async () => {
  const house = await openTeam();
  await house.call('task.create', { teamId: 'demo', title: 'First' });
  const lead = await connect(house, LEAD);
  await use(lead, 'TaskClaim');
  await house.call('task.release', { teamId: 'demo', taskId: '1' });
  await house.call('task.claim', { teamId: 'demo', taskId: '1' }, 'alice');
  expect((await use(lead, 'TaskUpdate', { taskId: '1', status: 'pending' })).data.task.status).toBe('pending');
});

test('changes the fields that an agent may change, and names them', async () => {
  const house = await openTeam();
  for (const title of ['First', 'Second', 'Third']) await house.call('task.create', { teamId: 'demo', title });
  const lead = await connect(house, LEAD);
  const update = (input: object) => use(lead, 'TaskUpdate', { taskId: '2', ...input });

  expect((await update({ subject: 'Zweite', description: 'neu', activeForm: 'Neu' })).text).toBe(
    'Updated task #2 subject, description, activeForm',
  );
  await update({ metadata: { a: 1, b: { c: 2 } } });
  await update({ metadata: { a: null, d: 3 } });
  expect((await use(lead, 'TaskGet', { taskId: '2' })).data.task).toMatchObject({
    subject: 'Zweite',
    description: 'neu',
    activeForm: 'Neu',
    metadata: { b: { c: 2 }, d: 3 },
  });
  const linked = await update({ addBlockedBy: ['1'], addBlocks: ['3'] });
  expect(linked.text).toBe('Updated task #2 blocks, blockedBy');
  expect(linked.data.task).toMatchObject({ blockedBy: ['1'] });
  expect((await use(lead, 'TaskGet', { taskId: '3' })).data.task.blockedBy).toEqual(['2']);
  expect(await refusal(lead, 'TaskUpdate', { taskId: '1', addBlockedBy: ['3'] })).toBe('cycle');

  expect((await update({ owner: 'bob' })).data.task.owner).toBe('bob');
  expect((await update({ owner: '' })).data.task.owner).toBeUndefined();
  expect((await update({ owner: 'team-lead' })).data.task.owner).toBe('lead');
  expect((await update({})).text).toBe('Task #2 is unchanged');
  expect((await use(lead, 'TaskUpdate', { taskId: '1', status: 'completed' })).text).toMatch(
    /^Updated task #1 status\n/,
  );
  expect((await use(lead, 'TaskUpdate', { taskId: '1', status: 'pending' })).data.task.status).toBe('pending');
  expect((await use(lead, 'TaskUpdate', { taskId: '3', status: 'deleted' })).data.task.status).toBe('deleted');
  expect(await refusal(lead, 'TaskGet', { taskId: '99' })).toBe('not_found');
});

test('claims with TaskUpdate under the rules of a claim', async () => {
  const house = await openTeam();
  await house.call('task.create', { teamId: 'demo', title: 'First' });
  const [alice, bob] = [await connect(house, member('alice')), await connect(house, member('bob'))];
  const claimed = await use(alice, 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  expect(claimed.text).toBe('Updated task #1 status\n\nYou hold it now. Finish it with TaskComplete.');
  expect(claimed.data.task.owner).toBe('alice');
  expect(await refusal(bob, 'TaskUpdate', { taskId: '1', status: 'in_progress' })).toBe('claim_conflict');
  expect(await refusal(bob, 'TaskUpdate', { taskId: '1', status: 'in_progress', owner: 'bob' })).toBe('claim_conflict');
  expect(await refusal(bob, 'TaskUpdate', { taskId: '1', status: 'completed' })).toBe('not_allowed');
  expect((await use(alice, 'TaskUpdate', { taskId: '1', status: 'pending' })).data.task.owner).toBeUndefined();
});

test('reserves a task if a lead sets it in progress for another member', async () => {
  const house = await openTeam();
  await house.call('task.create', { teamId: 'demo', title: 'First' });
  const lead = await connect(house, LEAD);
  const { text, data } = await use(lead, 'TaskUpdate', { taskId: '1', owner: 'alice', status: 'in_progress' });
  expect(text).toBe('Updated task #1 owner\n\nIt is reserved for alice and begins when alice claims it.');
  expect(data.task).toMatchObject({ owner: 'alice', status: 'pending' });
});

test('changes dependencies, texts and status in one step, or nothing', async () => {
  const house = await openTeam();
  for (const title of ['One', 'Two', 'Three']) await house.call('task.create', { teamId: 'demo', title });
  const alice = await connect(house, member('alice'));
  const before = await house.call('task.show', { teamId: 'demo', taskId: '2' });
  const wanted = { taskId: '2', addBlockedBy: ['1'], addBlocks: ['3'], subject: 'Changed', status: 'in_progress' };
  const { isError, text } = await use(alice, 'TaskUpdate', wanted);
  expect(isError).toBe(true);
  expect(text).toBe('blocked: Task 2 waits for task 1 (pending)');
  expect(await house.call('task.show', { teamId: 'demo', taskId: '2' })).toEqual(before);
  expect(await house.call('task.show', { teamId: 'demo', taskId: '3' })).toMatchObject({ dependencies: [] });

  const { data } = await use(alice, 'TaskUpdate', { ...wanted, addBlockedBy: [] });
  expect(data.task).toMatchObject({ id: '2', subject: 'Changed', status: 'in_progress' });
  const third = { teamId: 'demo', taskId: '3' };
  expect(await house.call('task.show', third)).toMatchObject({ dependencies: ['2'], revision: 2 });
  // Repeating a finished change has no effect.
  const again = await use(alice, 'TaskUpdate', { taskId: '2', addBlocks: ['3'] });
  expect(again.data.task).toMatchObject({ id: '2' });
  expect(await house.call('task.show', third)).toMatchObject({ dependencies: ['2'], revision: 2 });
});

test('accepts ids as models write them', async () => {
  const house = await openTeam();
  for (const title of ['First', 'Second']) await house.call('task.create', { teamId: 'demo', title });
  const lead = await connect(house, LEAD);
  expect((await use(lead, 'TaskGet', { taskId: 1 })).data.task.id).toBe('1');
  expect((await use(lead, 'TaskUpdate', { taskId: '#2', addBlockedBy: '#1' })).data.task.blockedBy).toEqual(['1']);
  expect((await use(lead, 'TaskClaim', { taskId: 1, wait_seconds: '5' })).data.task.id).toBe('1');
});

test('names the field that is wrong', async () => {
  const lead = await connect(await openTeam(), LEAD);
  const wrong: [string, Record<string, unknown>, RegExp][] = [
    ['TaskGet', { taskId: 'one' }, /^invalid: taskId: /],
    ['TaskGet', {}, /^invalid: taskId: /],
    ['TaskCreate', { subject: '', description: 'd' }, /^invalid: subject: /],
    ['TaskCreate', { subject: 'S' }, /^invalid: description: /],
    ['TaskCreate', { subject: 'S', description: 'd', owner: 7 }, /^invalid: owner: /],
    ['TaskUpdate', { taskId: '1', status: 'done' }, /^invalid: status: /],
    ['TaskUpdate', { taskId: '1', owner: 'Some One' }, /^invalid: owner: .*try "some-one"/],
    ['TaskCreate', { subject: 'S', description: 'x'.repeat(70_000) }, /^invalid: description: is longer than/],
    ['SendMessage', { to: 'alice', message: 'x'.repeat(70_000) }, /^invalid: message: is longer than/],
    ['TaskList', { team_name: '../x' }, /^invalid: team_name: /],
    ['TaskClaim', { wait_seconds: 301 }, /^invalid: wait_seconds: /],
    ['TaskList', { sort: 'id' }, /^invalid: .*"sort"/],
    ['SendMessage', { message: 'hi' }, /^invalid: to: /],
    ['SendMessage', { to: 'alice', message: { type: 'shutdown_response', approve: true } }, /^invalid: request_id: /],
    ['SendMessage', { to: 'alice', message: ' ' }, /^invalid: message: /],
    ['SendMessage', { to: 'alice', recipient: 'bob', message: 'hi' }, /^invalid: to: differs from recipient/],
    ['SendMessage', { to: 'alice', message: 'hi', content: 'ho' }, /^invalid: message: differs from content/],
    [
      'SendMessage',
      { type: 'broadcast', recipient: 'bob', content: 'hi' },
      /^invalid: to: a broadcast goes to everybody/,
    ],
    ['SendMessage', { type: 'message', to: 'bob', message: { type: 'shutdown_request' } }, /^invalid: message.type: /],
    ['SendMessage', { type: 'plan_approval_response', request_id: 'x' }, /^invalid: approve: /],
  ];
  for (const [name, input, message] of wrong) {
    const { text, isError } = await use(lead, name, input);
    expect(text, JSON.stringify(input)).toMatch(message);
    expect(isError).toBe(true);
  }
});

test('lets tasks name their files: those with common files take turns, and a claim says why', async () => {
  const house = await openTeam();
  const lead = await connect(house, LEAD);
  await use(lead, 'TaskCreate', { subject: 'Parser', description: '', files: ['src/parser/**'] });
  await use(lead, 'TaskCreate', { subject: 'Lexer', description: '', files: ['src/parser/lexer.ts'] });
  await use(lead, 'TaskUpdate', { taskId: '2', files: ['src/parser/lexer.ts', 'docs/**'] });
  const [alice, bob] = [await connect(house, member('alice')), await connect(house, member('bob'))];
  await use(alice, 'TaskClaim', { taskId: '1' });
  const shown = await use(bob, 'TaskGet', { taskId: '2' });
  expect(shown.text).toContain('\nFiles: src/parser/lexer.ts, docs/**\n');
  expect(shown.text).toContain('\nNot free: it changes the same files as #1');
  expect((await use(bob, 'TaskList')).text).toContain('#2 [pending] Lexer [changes the same files as #1]');
  const refused = await use(bob, 'TaskClaim', { taskId: '2' });
  expect(refused.text).toContain('changes the same files as task 1 (in progress, held by alice)');
  await use(alice, 'TaskComplete', { taskId: '1' });
  expect((await use(bob, 'TaskClaim')).data.task).toMatchObject({ id: '2' });
  const wrong = await use(lead, 'TaskCreate', { subject: 'x', description: '', files: ['/etc'] });
  expect(wrong.text).toBe('invalid: files.0: must be relative to the project');
});
