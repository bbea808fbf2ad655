import { expect, test } from 'vitest';
import type { TeamEvent } from '../../src/core/event.ts';
import { ADMIN } from '../../src/operations/caller.ts';
import { maySeeMessage, visibleEvents } from '../../src/operations/visible.ts';

test('a message is seen by its sender, its recipient, the lead and people, and by nobody else', () => {
  const message = { fromId: 'ann', toId: 'bob' };
  const member = { scope: 'member', teamId: 'demo' } as const;
  const sees = ['ann', 'bob', 'eve'].map((memberId) => maySeeMessage({ ...member, memberId }, memberId, message));
  expect(sees).toEqual([true, true, false]);
  expect(maySeeMessage({ ...member, scope: 'lead', memberId: 'lead' }, 'lead', message)).toBe(true);
  expect(maySeeMessage(ADMIN, '@user', message)).toBe(true);
});

test('of a batch, a member sees all but the messages of others', () => {
  const about = { at: 1, seq: 1 };
  const message = { messageId: 'm', messageType: 'message', content: 'x', priority: 'normal' } as const;
  const copy = (toId: string) => ({ toId, messageId: `m/${toId}` });
  const events = [
    { type: 'task:released', by: 'ann', ...about },
    { type: 'message:sent', by: 'ann', ...about, ...message, copies: [copy('bob'), copy('eve')] },
    { type: 'message:sent', by: 'eve', ...about, ...message, copies: [copy('ann')] },
  ] as unknown as readonly TeamEvent[];
  const seen = (memberId: string, scope: 'member' | 'lead' = 'member') =>
    visibleEvents(events, { scope, teamId: 'demo', memberId });
  const [released, toBoth, toAnn] = events;
  expect(seen('ann')).toEqual(events);
  expect(seen('bob')).toEqual([released, { ...toBoth, copies: [copy('bob')] }]);
  expect(seen('eve')).toEqual([released, { ...toBoth, copies: [copy('eve')] }, toAnn]);
  expect(seen('joe')).toEqual([released]);
  expect(seen('joe', 'lead')).toBe(events);
  // What holds no message is passed on, and not copied for each member.
  const others = [released as TeamEvent];
  expect(visibleEvents(others, { scope: 'member', teamId: 'demo', memberId: 'joe' })).toBe(others);
});
