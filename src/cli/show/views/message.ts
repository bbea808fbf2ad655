import { otherTeamOf } from '../../../core/address.ts';
import type { ResultOf } from '../../../operations/index.ts';
import { paint } from '../screen.ts';
import type { Screen, Style } from '../screen.ts';
import { clean, cut, widthOf } from '../text.ts';
import { showTime } from '../time.ts';
import { count, indent } from './details.ts';
import type { Views } from './views.ts';

type Message = ResultOf<'message.send'>;

export const views: Views = {
  'message.send': (message) =>
    `Sent to ${clean(message.toId)}${otherTeamOf(message.fromId) === undefined ? '' : `@${message.teamId}`}${message.priority === 'urgent' ? ', urgent' : ''}.\n`,
  'message.broadcast': (messages) =>
    messages.length === 0
      ? 'There is nobody else on the team.\n'
      : `Sent to ${count(messages.length, 'member')}: ${messages.map(({ toId }) => clean(toId)).join(', ')}.\n`,
  'message.inbox': (messages, screen) =>
    messages.length === 0 ? 'There are no such messages.\n' : messages.map((one) => mail(one, screen)).join('\n'),
  'message.read': (messages) => `${count(messages.length, 'message')} marked as read.\n`,
  'message.deliver': (messages, screen) => messages.map((one) => mail(one, screen)).join('\n'),
  'message.acknowledge': (messages) => `${count(messages.length, 'message')} acknowledged.\n`,
};

/** A message as a header line and its text. */
function mail(message: Message, screen: Screen): string {
  const notes = [
    showTime(message.sentAt, screen),
    otherTeamOf(message.fromId) === undefined ? '' : 'from another team',
    message.type === 'direct' ? '' : message.type.replace('_', ' '),
    message.redeliveries > 0 ? 'shown before' : '',
  ].filter((note) => note !== '');
  const parts: [string, Style | undefined][] = [
    [message.readAt === undefined ? '●' : ' ', 'cyan'],
    [message.fromId, 'bold'],
    [notes.join(', '), 'dim'],
    [message.priority === 'urgent' ? 'urgent' : '', 'red'],
    [message.summary ?? '', undefined],
    [message.id, 'dim'],
  ];
  return `${headLines(parts, screen)}${indent(message.content, screen, 2)}`;
}

/** Puts pieces beside each other; those that don't fit go to the next line. */
function headLines(parts: readonly [string, Style | undefined][], screen: Screen): string {
  let text = '';
  let width = 0;
  for (const [raw, style] of parts) {
    const part = cut(clean(raw), screen.columns - 2);
    if (part === '') continue;
    const gap = width === 0 ? 0 : width === 1 ? 1 : 2;
    const fits = width + gap + widthOf(part) <= screen.columns;
    text += `${fits ? ' '.repeat(gap) : '\n  '}${paint(screen, style, part)}`;
    width = widthOf(part) + (fits ? width + gap : 2);
  }
  return `${text}\n`;
}
