import { describe, expect, test } from 'vitest';
import { teamOf } from '../stage.ts';

describe('an inbox', () => {
  test.each(['message.deliver', 'message.acknowledge', 'message.read'] as const)(
    'is touched only by its owner and by Troupe: %s',
    (type) => {
      const team = teamOf('ann', 'bob');
      team.do('message.send', { messageId: 'm1', toId: 'ann', content: 'hello' });
      const input = { memberId: 'ann', messageIds: ['m1'], ...(type === 'message.deliver' && { sessionId: 's1' }) };
      for (const by of ['bob', 'lead', '@user']) {
        expect(team.refuse(by, type, input as never)).toMatchObject({
          code: 'not_allowed',
          message: `${by} may not touch the inbox of ann: only ann may`,
        });
      }
      expect(team.as('ann', type, input as never)).toHaveLength(1);
      team.do('message.send', { messageId: 'm2', toId: 'ann', content: 'hello' });
      expect(team.as('@system', type, { ...input, messageIds: ['m2'] })).toHaveLength(1);
    },
  );
});
