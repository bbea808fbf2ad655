import { TeamError } from '../../core/errors.ts';

/** More than all members of several of the largest teams need at once; further callers must retry. */
const WAITING = 1_000;

/** Runs at most `size` at once; the others queue in order, and beyond `most` they are refused. */
export function pool(size: number, most = WAITING): <R>(work: () => Promise<R>) => Promise<R> {
  let free = size;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free--;
    else if (waiting.length >= most) {
      throw new TeamError('overloaded', `${most} hooks wait for their turn: try again in a moment`);
    } else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
