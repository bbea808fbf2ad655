type Queues = <R>(key: string, work: () => Promise<R>) => Promise<R>;

/**
 * Runs work with the same key one after the other, in the order of the calls. A failure concerns its caller alone. Of a
 * key at rest nothing is kept: a daemon sees new teams for months.
 */
export function openQueues(): Queues {
  const ends = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const done = (ends.get(key) ?? Promise.resolve()).then(work);
    const end = done
      .catch(() => {})
      .then(() => {
        if (ends.get(key) === end) ends.delete(key);
      });
    ends.set(key, end);
    return done;
  };
}

/** Runs work one after the other, in the order of the calls. */
export function openQueue(): <R>(work: () => Promise<R>) => Promise<R> {
  const queues = openQueues();
  return (work) => queues('', work);
}
