import { expect, test } from 'vitest';
import type { TeamMessage } from '../../src/core/message.ts';
import type { Door } from '../../src/teammate/door.ts';
import { openMail } from '../../src/teammate/mail.ts';
import type { Mail } from '../../src/teammate/mail.ts';
import { connect, member, openTeam, use } from '../mcp/house.ts';
import type { House } from '../mcp/house.ts';

const WHO = { teamId: 'demo', memberId: 'carol' };

test('marks messages that the agent fetched itself as read if the turn succeeds', async () => {
  const { house, mail, fetchMail, stored } = await openCarol();
  await house.call('message.send', { teamId: 'demo', toId: 'carol', content: 'one' }, 'alice');
  expect(await fetchMail()).toMatchObject([{ content: 'one' }]);
  expect(await mail.take('s1')).toEqual([]);
  expect((await stored()).readAt).toBeUndefined();
  await mail.endTurn('s1', { went: 'well' });
  expect(await stored()).toMatchObject({ acknowledgedAt: expect.any(Date), readAt: expect.any(Date), redeliveries: 0 });
});

test('shows messages that the agent fetched itself once more, marked, if the turn fails', async () => {
  const { house, mail, fetchMail, stored } = await openCarol();
  await house.call('message.send', { teamId: 'demo', toId: 'carol', content: 'one' }, 'alice');
  await fetchMail();
  await mail.endTurn('s1', { went: 'badly' });
  expect(await mail.take('s1')).toMatchObject([{ content: 'one', redeliveries: 1 }]);
  await mail.endTurn('s1', { went: 'badly' });
  expect(await mail.take('s1')).toEqual([]);
  expect((await stored()).readAt).toBeUndefined();
});

test('leaves messages that it put into the turn until the agent reports them', async () => {
  const { house, mail, stored } = await openCarol();
  await house.call('message.send', { teamId: 'demo', toId: 'carol', content: 'one' }, 'alice');
  expect(await mail.take('s1')).toHaveLength(1);
  await mail.endTurn('s1', { went: 'well' });
  expect((await stored()).readAt).toBeUndefined();
});

/** A member that Troupe runs, with its messages as seen by its host and by its own tools. */
async function openCarol(): Promise<{
  house: House;
  mail: Mail;
  fetchMail: () => Promise<unknown>;
  stored: () => Promise<TeamMessage>;
}> {
  const house = await openTeam();
  const agent = { kind: 'exec' as const, command: ['true'] };
  await house.call('member.add', { teamId: 'demo', name: 'carol', sessionId: 's1', agent });
  const call = async (name: never, input: never): Promise<unknown> =>
    JSON.parse(JSON.stringify(await house.call(name, input, 'carol')));
  const mail = await openMail({ call } as unknown as Door, WHO, new Set());
  const client = await connect(house, member('carol'));
  return {
    house,
    mail,
    fetchMail: async () => (await use(client, 'Inbox')).data.messages,
    stored: async () => (await house.call<TeamMessage[]>('message.inbox', WHO))[0] as TeamMessage,
  };
}
