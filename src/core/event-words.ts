import type { TeamEvent } from './event.ts';
import type { EventWords, NameTask } from './events/row.ts';
import { rowOf } from './events/table.ts';

/** An event as text. An unknown event of a newer daemon is shown by its name. */
export function wordEvent(event: TeamEvent, task: NameTask = (id) => `#${id}`): EventWords {
  return rowOf(event)?.words(event, task) ?? { actor: event.by, text: event.type, tone: 'quiet' };
}
