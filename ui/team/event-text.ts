import { wordEvent } from '../../src/client/replica.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import { showControls } from '../parts/controls.ts';

/** An event in one line, for the time line and the history of a task. */
export function describeEvent(event: TeamEvent): string {
  const { actor, text, reason } = wordEvent(event);
  const why = reason?.trim().split('\n', 1)[0];
  return showControls(`${nameOf(actor)} ${text}${why ? `: ${why}` : ''}`);
}

function nameOf(actor: string): string {
  if (actor === '@user') return 'You';
  if (actor === '@system') return 'Troupe';
  // A gate or a task begins the sentence, so it gets a capital letter.
  return actor.replace(/^(?:(?:a|the) gate|task)\b/, (words) => words.charAt(0).toUpperCase() + words.slice(1));
}
