/** Lets so many run at once; the others wait their turn, in order. */
export function pool(size: number): <R>(work: () => Promise<R>) => Promise<R> {
  let free = size;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
