import { expect, test } from 'vitest';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { openUnix } from './wire.ts';
import type { Wire } from './wire.ts';

const teamId = 'demo';
const WAIT = 60_000;

/** Changes in a team that bring messages only to `other`, and tasks to nobody. */
async function makeNoise({ act }: Stage): Promise<void> {
  await act('message.send', { teamId, toId: 'other', content: 'Not for the worker' }, 'lead');
  await act('message.read', { teamId, memberId: 'other', messageIds: await unreadOf(act) }, 'other');
  await act('note.add', { teamId, text: 'A note' }, 'lead');
}

async function unreadOf(act: Stage['act']): Promise<string[]> {
  return (await act('message.inbox', { teamId, memberId: 'other', unread: true })).map(({ id }) => id);
}

/** A worker whose calls wait, and how often they read. */
async function connectWorker(stage: Stage): Promise<{ wire: Wire; looks: () => number }> {
  const { mailbox, tasks } = stage.hub.services;
  let looks = 0;
  const getInbox = mailbox.getInbox.bind(mailbox);
  mailbox.getInbox = (...given) => {
    if (given[1] === 'worker') looks++;
    return getInbox(...given);
  };
  const claimNextTask = tasks.claimNextTask.bind(tasks);
  tasks.claimNextTask = (...given) => {
    looks++;
    return claimNextTask(...given);
  };
  return { wire: await openUnix(stage.home.socket, stage.tokens.worker), looks: () => looks };
}

test('a call that waits for messages reads again only when some may have arrived', async () => {
  const stage = await setStage();
  const { wire, looks } = await connectWorker(stage);
  for (let id = 1; id <= 3; id++) {
    wire.send({ type: 'message.inbox', id, payload: { teamId, unread: true, wait: WAIT } });
  }
  await wire.ask({ type: 'ping' });
  for (let i = 0; i < 10; i++) {
    const { id: taskId } = await stage.act('task.create', { teamId, title: `Task ${i}` });
    await stage.act('task.claim', { teamId, taskId }, 'other');
    await stage.act('task.complete', { teamId, taskId }, 'other');
    await makeNoise(stage);
  }
  // When they began, and after the first batch, because they may have missed something before it.
  expect(looks()).toBeLessThanOrEqual(3 * 2);
  await stage.act('message.broadcast', { teamId, content: 'For all' }, 'lead');
  for (let id = 1; id <= 3; id++) {
    expect(await wire.take((frame) => frame.id === id)).toMatchObject({ result: [{ content: 'For all' }] });
  }
  expect(looks()).toBeLessThanOrEqual(3 * 3);
});

test('a call that waits for a task does not read again for messages', async () => {
  const stage = await setStage();
  const { wire, looks } = await connectWorker(stage);
  wire.send({ type: 'task.claim', id: 1, payload: { teamId, wait: WAIT } });
  await wire.ask({ type: 'ping' });
  for (let i = 0; i < 10; i++) await makeNoise(stage);
  expect(looks()).toBeLessThanOrEqual(2);
  await stage.act('task.create', { teamId, title: 'New' });
  expect(await wire.take(({ id }) => id === 1)).toMatchObject({ result: { title: 'New' } });
});

const FREEING: readonly [
  string,
  { before: (act: Stage['act']) => Promise<unknown>; frees: (act: Stage['act']) => Promise<unknown> },
][] = [
  [
    'another gives back',
    {
      before: (act) => act('task.claim', { teamId, taskId: '1' }, 'other'),
      frees: (act) => act('task.release', { teamId, taskId: '1' }, 'other'),
    },
  ],
  [
    'another leaves behind',
    {
      before: (act) => act('task.claim', { teamId, taskId: '1' }, 'other'),
      frees: (act) => act('member.remove', { teamId, memberId: 'other' }),
    },
  ],
  [
    'was reserved for another',
    {
      before: (act) => act('task.assign', { teamId, taskId: '1', assigneeId: 'other' }),
      frees: (act) => act('task.assign', { teamId, taskId: '1' }),
    },
  ],
  [
    'waited for one that ends',
    {
      before: async (act) => {
        await act('task.claim', { teamId, taskId: '1' }, 'other');
        await act('task.create', { teamId, title: 'Second', dependencies: ['1'] });
      },
      frees: (act) => act('task.complete', { teamId, taskId: '1' }, 'other'),
    },
  ],
  [
    'waits for another no longer',
    {
      before: async (act) => {
        await act('task.claim', { teamId, taskId: '1' }, 'other');
        await act('task.create', { teamId, title: 'Second', dependencies: ['1'] });
      },
      frees: (act) => act('task.undepend', { teamId, taskId: '2', dependencies: ['1'] }),
    },
  ],
  [
    'is reopened',
    {
      before: async (act) => {
        await act('task.complete', { teamId, taskId: '1' });
      },
      frees: (act) => act('task.reopen', { teamId, taskId: '1' }),
    },
  ],
];

test.each(FREEING)('a call that waits for a task takes one that %s', async (_what, { before, frees }) => {
  const stage = await setStage();
  await stage.act('task.create', { teamId, title: 'First' });
  await before(stage.act);
  const { wire } = await connectWorker(stage);
  wire.send({ type: 'task.claim', id: 1, payload: { teamId, wait: WAIT } });
  await wire.ask({ type: 'ping' });
  await makeNoise(stage);
  await frees(stage.act);
  expect(await wire.take(({ id }) => id === 1)).toMatchObject({ type: 'result', result: { assigneeId: 'worker' } });
});
