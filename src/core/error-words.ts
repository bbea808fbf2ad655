import type { ErrorFacts } from './errors.ts';

/** The names that one face uses for things in an error. */
export interface Naming {
  /** An input by its shared name: `--needs` for `dependencies`. */
  readonly field?: (name: string) => string;
  /** How a caller names the member that it acts for. */
  readonly speaker: string;
  /** How to list what exists. */
  readonly list?: (noun: NonNullable<ErrorFacts['list']>) => string;
  /** How to use an input that would allow the call; undefined if the face does not have it. */
  readonly option?: (option: NonNullable<ErrorFacts['option']>) => string | undefined;
}

/** An error in the terms of one face: its message, and what the caller can do. */
export function wordError(error: { message: string; facts?: ErrorFacts | undefined }, naming: Naming): string {
  const { problems, needs, list, option } = error.facts ?? {};
  const { field = (name) => name, list: listing = (noun) => `list the ${noun}s to see which exist` } = naming;
  const optional = option && (naming.option ?? (({ effect, field: name }) => `${effect} (${name})`))(option);
  if (problems) return problems.map((one) => wordProblem(one, field)).join('; ');
  const advice = [needs === 'speaker' ? naming.speaker : undefined, list && listing(list)].find(Boolean);
  return [
    error.message,
    ...(advice ? [join(error.message, advice)] : []),
    ...(optional ? [`, or ${optional}`] : []),
  ].join('');
}

/** An answer to a question is a sentence of its own. */
function join(message: string, advice: string): string {
  return message.endsWith('?') ? ` ${advice.charAt(0).toUpperCase()}${advice.slice(1)}` : `: ${advice}`;
}

function wordProblem({ field, problem }: { field: string; problem: string }, name: (field: string) => string): string {
  if (field === '') return problem;
  const [first = '', ...rest] = field.split('.');
  return `${[name(first), ...rest].join('.')}: ${problem}`;
}
