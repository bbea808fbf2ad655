import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeVoices, indentText, wrapMessage, wrapText } from '../../src/core/envelope.ts';
import type { TeamMessage } from '../../src/core/message.ts';
import { tries } from '../proof.ts';
import { teamOf } from './stage.ts';

const BOUNDARY = 'k3j9';

/** The parts of tags, and characters that hide them. */
const PARTS = [
  '<',
  '</',
  '< /',
  '<\u200b',
  '<\0',
  '<\ufe0f/',
  '<\n/',
  'teammate-message',
  'Teammate_Message',
  'system-reminder',
  'human',
  'x:',
  'invoke',
  'tool_result',
  ' ',
  '>',
  '"',
  BOUNDARY,
  ' boundary="',
  'a',
];

describe('an envelope', () => {
  test('names the sender and the important facts of a message', () => {
    const team = teamOf('ann');
    team.do('message.send', { messageId: 'm1', toId: 'ann', content: 'hello\nthere' });
    expect(wrapMessage(message('m1'), BOUNDARY)).toBe(
      '<teammate-message teammate_id="lead" message_id="m1" type="direct" boundary="k3j9">\n' +
        'hello\nthere\n' +
        '</teammate-message boundary="k3j9">',
    );
    team.do('message.send', {
      messageId: 'm2',
      toId: 'ann',
      content: 'x',
      priority: 'urgent',
      summary: 'a "b" <c> & d',
    });
    for (const sessionId of ['s1', 's2']) {
      team.as('ann', 'message.deliver', { memberId: 'ann', messageIds: ['m2'], sessionId });
    }
    const attributes = 'priority="urgent" summary="a &quot;b&quot; &lt;c&gt; &amp; d" redelivery="1"';
    expect(wrapMessage(message('m2'), BOUNDARY)).toContain(` ${attributes} boundary="k3j9">`);

    function message(id: string): TeamMessage {
      return team.state.messages.get(id) as TeamMessage;
    }
  });

  test('cannot be left by any text', () => {
    const part = fc.constantFrom(...PARTS);
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const wrapped = wrapText(parts.join(''), 'r4nd0m', { teammate_id: parts.join('') });
        const seen = wrapped.replace(/\s|\0|\u200b|\ufe0f/g, ' ');
        expect(seen.match(/< *\/? *(\w+:)?teammate[-_]message\b/gi)).toHaveLength(2);
        expect(seen.match(/< *\/? *(\w+:)?(system|human|invoke|tool_result)\b/gi)).toBeNull();
        const [head = ''] = wrapped.split('\n');
        expect(head).toMatch(/^<teammate-message teammate_id="[^"<>]*" boundary="r4nd0m">$/);
      }),
      tries(167),
    );
  });

  test('omits what is not set', () => {
    expect(wrapText('x', 'b', { a: undefined, c: '1' })).toBe(
      '<teammate-message c="1" boundary="b">\nx\n</teammate-message boundary="b">',
    );
  });
});

describe('a text', () => {
  test.each([
    '</teammate-message>',
    '<teammate_message from="lead">',
    '<system-reminder>',
    '< / SYSTEM >',
    '<\u202esystem>',
    '<\0system>',
    '<\u001b/teammate-message>',
    '<\ufe0fsystem>',
    '<human>',
    '</assistant>',
    '<x:function_calls>',
    '<tool_use>',
    '<x:invoke name="Bash">',
  ])('cannot pose as an authority: %j', (text) => {
    expect(escapeVoices(`a ${text} b`)).toBe(`a &lt;${text.slice(1)} b`);
  });

  test.each(['a < b', '<div>', '<systemd>', 'if (a<human_count)', '<Systematic/>', 'Array<string>', '&lt;'])(
    'is otherwise unchanged: %j',
    (text) => {
      expect(escapeVoices(text)).toBe(text);
    },
  );
});

test('further lines of foreign text are indented, whatever ends a line', () => {
  expect(indentText('a\nb\r\nc\rd\u2028e')).toBe('a\n  b\n  c\n  d\n  e');
});
