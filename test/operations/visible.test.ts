import { expect, test } from 'vitest';
import { ADMIN } from '../../src/operations/caller.ts';
import { maySeeMessage } from '../../src/operations/visible.ts';

test('a message is seen by its sender, its recipient, the lead and people, and by nobody else', () => {
  const message = { fromId: 'ann', toId: 'bob' };
  const member = { scope: 'member', teamId: 'demo' } as const;
  const sees = ['ann', 'bob', 'eve'].map((memberId) => maySeeMessage({ ...member, memberId }, memberId, message));
  expect(sees).toEqual([true, true, false]);
  expect(maySeeMessage({ ...member, scope: 'lead', memberId: 'lead' }, 'lead', message)).toBe(true);
  expect(maySeeMessage(ADMIN, '@user', message)).toBe(true);
});
