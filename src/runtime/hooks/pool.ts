import { TeamError } from '../../core/errors.ts';

/** More than every member of several of the largest teams could ask for at once; whoever is beyond is told to come again. */
const WAITING = 1_000;

/** Lets so many run at once; the others wait their turn, in order, and too many are refused. */
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
