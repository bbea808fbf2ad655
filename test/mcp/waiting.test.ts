import { expect, test } from 'vitest';
import type { SharedTask } from '../../src/core/task.ts';
import { connect, LEAD, member, openTeam, use } from './house.ts';

test('waits for a task and claims it as soon as it exists', async () => {
  const house = await openTeam();
  const alice = await connect(house, member('alice'));
  const claiming = use(alice, 'TaskClaim', { wait_seconds: 60 });
  await house.room.has(2);
  await house.call('task.create', { teamId: 'demo', title: 'New' });
  expect((await claiming).data.task).toMatchObject({ id: '1', owner: 'alice' });
});

test('waits for a task that is blocked', async () => {
  const house = await openTeam();
  await house.call('task.create', { teamId: 'demo', title: 'First' });
  await house.call('task.create', { teamId: 'demo', title: 'Second', dependencies: ['1'] });
  const alice = await connect(house, member('alice'));
  expect((await use(alice, 'TaskClaim', { taskId: '2', wait_seconds: 0.05 })).text).toBe(
    'Task #2 waits for task 1 (pending). Take another one.',
  );
  const claiming = use(alice, 'TaskClaim', { taskId: '2', wait_seconds: 60 });
  await house.room.has(2);
  await house.call('task.complete', { teamId: 'demo', taskId: '1' });
  expect((await claiming).data.task.id).toBe('2');
});

test('gives each task to one of many waiting calls', async () => {
  const names = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7', 'a8'];
  const house = await openTeam(names);
  const claims = await Promise.all(
    names.map(async (name) => ({
      name,
      claim: use(await connect(house, member(name)), 'TaskClaim', { wait_seconds: 60 }),
    })),
  );
  for (const name of names) await house.call('task.create', { teamId: 'demo', title: name });
  const tasks = await Promise.all(
    claims.map(async ({ claim }) => (await claim).data.task as { id: string; owner: string }),
  );
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(names.length);
  expect(tasks.map(({ owner }) => owner).sort()).toEqual(names);
});

test('ends without a task at the timeout', async () => {
  const alice = await connect(await openTeam(), member('alice'));
  const { text, data } = await use(alice, 'TaskClaim', { wait_seconds: 0.05 });
  expect(text).toBe('No task is left. Call TaskClaim with wait_seconds to wait for new ones.');
  expect(data.task).toBeNull();
  expect((await use(alice, 'Inbox', { wait_seconds: 0.05 })).text).toBe('No mail came.');
});

test('waits for messages', async () => {
  const house = await openTeam();
  const [alice, bob] = [await connect(house, member('alice')), await connect(house, member('bob'))];
  const looking = use(bob, 'Inbox', { wait_seconds: 60 });
  await house.room.has(1);
  await use(alice, 'SendMessage', { to: 'lead', message: 'not for bob' });
  await use(alice, 'SendMessage', { to: 'bob', message: 'for bob' });
  expect((await looking).data.messages).toMatchObject([{ content: 'for bob' }]);
});

test('does not end its wait for a request that was shown before', async () => {
  const house = await openTeam();
  const [lead, alice] = [await connect(house, LEAD), await connect(house, member('alice'))];
  await use(lead, 'SendMessage', { to: 'alice', message: { type: 'shutdown_request', reason: 'done' } });
  expect((await use(alice, 'Inbox', { wait_seconds: 60 })).data.requests).toHaveLength(1);
  expect((await use(alice, 'Inbox', { wait_seconds: 0.05 })).data.requests).toEqual([]);
  // A call without a wait shows it as long as it is unanswered.
  expect((await use(alice, 'Inbox')).data.requests).toHaveLength(1);
});

test('ends the wait for a task when a message comes', async () => {
  const house = await openTeam();
  const [lead, alice] = [await connect(house, LEAD), await connect(house, member('alice'))];
  const claiming = use(alice, 'TaskClaim', { wait_seconds: 60 });
  await house.room.has(2);
  await use(lead, 'SendMessage', { to: 'alice', message: 'look here' });
  expect((await claiming).text).toBe('No task yet, but there is mail for you: call Inbox.');
  expect((await use(alice, 'TaskClaim', { wait_seconds: 60 })).data.mail).toBe(true);
  await use(alice, 'Inbox');

  const again = use(alice, 'TaskClaim', { wait_seconds: 60 });
  await house.room.has(2);
  await use(lead, 'SendMessage', { to: 'alice', message: { type: 'shutdown_request' } });
  expect((await again).data.mail).toBe(true);
  await use(alice, 'Inbox');
  // If there are both a message and a task, the call claims the task.
  await house.call('task.create', { teamId: 'demo', title: 'New' });
  await use(lead, 'SendMessage', { to: 'alice', message: 'and this' });
  expect((await use(alice, 'TaskClaim', { wait_seconds: 60 })).data.task.id).toBe('1');
});

test('sends progress of a waiting call to a client that asked for it', async () => {
  const house = await openTeam();
  const alice = await connect(house, member('alice'));
  const told: unknown[] = [];
  const options = { onprogress: (progress: unknown) => void told.push(progress) };
  const claiming = use(alice, 'TaskClaim', { wait_seconds: 60 }, options);
  await expect.poll(() => told).toMatchObject([{ message: 'waiting for a task' }]);
  await house.call('task.create', { teamId: 'demo', title: 'New' });
  await claiming;
  const looking = use(alice, 'Inbox', { wait_seconds: 0.1 }, options);
  await expect.poll(() => told.at(-1)).toMatchObject({ message: 'waiting for mail' });
  await looking;
});

test('ends the wait when the client cancels, and takes nothing', async () => {
  const house = await openTeam();
  const alice = await connect(house, member('alice'));
  for (const name of ['TaskClaim', 'Inbox']) {
    const controller = new AbortController();
    const waiting = use(alice, name, { wait_seconds: 60 }, { signal: controller.signal });
    await house.room.has(name === 'Inbox' ? 1 : 2);
    controller.abort();
    await expect(waiting).rejects.toThrow('abort');
  }
  await use(alice, 'TeamStatus');
  await house.call('task.create', { teamId: 'demo', title: 'New' });
  await house.call('message.send', { teamId: 'demo', toId: 'alice', content: 'hi' }, 'bob');
  const task = await house.call<SharedTask>('task.show', { teamId: 'demo', taskId: '1' });
  expect(task).toMatchObject({ status: 'pending', epoch: 0 });
  expect((await use(alice, 'Inbox')).data.messages).toMatchObject([{ content: 'hi' }]);
});

test('releases a task that was claimed for a client that had just disconnected', async () => {
  const house = await openTeam();
  const alice = await connect(house, member('alice'));
  const claiming = use(alice, 'TaskClaim', { wait_seconds: 60 });
  await house.room.has(2);
  const creating = house.call('task.create', { teamId: 'demo', title: 'New' });
  const closing = alice.close();
  await expect(claiming).rejects.toThrow();
  await Promise.all([creating, closing]);
  await expect
    .poll(async () => (await house.call<SharedTask>('task.show', { teamId: 'demo', taskId: '1' })).status)
    .toBe('pending');
});

test('ends the wait when the client disconnects', async () => {
  const house = await openTeam();
  const alice = await connect(house, member('alice'));
  const waiting = [use(alice, 'TaskClaim', { wait_seconds: 60 }), use(alice, 'Inbox', { wait_seconds: 60 })];
  await house.room.has(3);
  await alice.close();
  await expect(Promise.allSettled(waiting)).resolves.toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  await house.call('task.create', { teamId: 'demo', title: 'New' });
  const bob = await connect(house, member('bob'));
  expect((await use(bob, 'TaskClaim')).data.task).toMatchObject({ id: '1', owner: 'bob' });
});

test('limits the calls of an agent under way, and still accepts their cancelling', async () => {
  const house = await openTeam();
  const alice = await connect(house, member('alice'));
  const controller = new AbortController();
  const many = Array.from({ length: 70 }, () =>
    use(alice, 'Inbox', { wait_seconds: 60 }, { signal: controller.signal }).catch(String),
  );
  const refused = await Promise.race(many);
  expect(refused).toContain('Too many calls are running');
  controller.abort();
  await Promise.all(many);
  await expect
    .poll(() =>
      use(alice, 'TeamStatus').then(
        ({ isError }) => isError,
        () => true,
      ),
    )
    .toBe(false);
});
