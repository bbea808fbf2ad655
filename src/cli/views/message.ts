import type { ResultOf } from '../../operations/index.ts';
import { paint } from '../screen.ts';
import type { Screen } from '../screen.ts';
import { clean } from '../text.ts';
import { showTime } from '../time.ts';
import { count, indent } from './details.ts';
import type { Views } from './views.ts';

type Message = ResultOf<'message.send'>;

export const views: Views = {
  'message.send': (message) => `Sent to ${clean(message.toId)}${message.priority === 'urgent' ? ', urgent' : ''}.\n`,
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

/** A message as a head line and its text. */
function mail(message: Message, screen: Screen): string {
  const mark = message.readAt === undefined ? paint(screen, 'cyan', '●') : ' ';
  const notes = [
    showTime(message.sentAt, screen),
    message.type === 'direct' ? '' : message.type.replace('_', ' '),
    message.redeliveries > 0 ? 'shown before' : '',
  ].filter((note) => note !== '');
  const head = [
    `${mark} ${paint(screen, 'bold', clean(message.fromId))}`,
    paint(screen, 'dim', notes.join(', ')),
    message.priority === 'urgent' ? paint(screen, 'red', 'urgent') : '',
    clean(message.summary ?? ''),
    paint(screen, 'dim', clean(message.id)),
  ].filter((part) => part !== '');
  return `${head.join('  ')}\n${indent(message.content, screen, 2)}`;
}
