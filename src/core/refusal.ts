import { shorten } from './text.ts';

/** How much of a refusal a question quotes. Characters. */
const QUOTED = 800;

/** What a person reads about a task whose model refused: its answer, and what the gates say about what is there. */
export function describeRefusal(answer: string | undefined, gate: string | undefined): string {
  const said = answer ? `Its answer: ${shorten(answer, QUOTED)}\n` : '';
  return `${said}${gate === undefined ? 'No gate judged it.' : `The gate does not accept it: ${gate}`}`;
}
