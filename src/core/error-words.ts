import type { ErrorFacts } from './errors.ts';

/** How one face names what an error speaks of. */
export interface Naming {
  /** An input by its shared name: `--needs` for `dependencies`. */
  readonly field?: (name: string) => string;
  /** How a caller says for which member it acts. */
  readonly speaker: string;
  /** How to list what there is. */
  readonly list?: (noun: NonNullable<ErrorFacts['list']>) => string;
  /** How to use an input that would allow it; undefined where the face does not have it. */
  readonly option?: (option: NonNullable<ErrorFacts['option']>) => string | undefined;
}

/** An error in the words of one face: its message, and what the caller can do there. */
export function wordError(error: { message: string; facts?: ErrorFacts | undefined }, naming: Naming): string {
  const { problems, needs, list, option } = error.facts ?? {};
  const { field = (name) => name, list: listing = (noun) => `list the ${noun}s to see which there are` } = naming;
  const optional = option && (naming.option ?? (({ effect, field: name }) => `${effect} (${name})`))(option);
  if (problems) return problems.map((one) => wordProblem(one, field)).join('; ');
  const advice = [needs === 'speaker' ? naming.speaker : undefined, list && listing(list)].find(Boolean);
  return [error.message, ...(advice ? [`: ${advice}`] : []), ...(optional ? [`, or ${optional}`] : [])].join('');
}

function wordProblem({ field, problem }: { field: string; problem: string }, name: (field: string) => string): string {
  if (field === '') return problem;
  const [first = '', ...rest] = field.split('.');
  return `${[name(first), ...rest].join('.')}: ${problem}`;
}
