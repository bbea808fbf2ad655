/** Runs work one after the other, in the order of the calls. A failure concerns its caller alone. */
export function openQueue(): <R>(work: () => Promise<R>) => Promise<R> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work, work);
    last = done.catch(() => {});
    return done;
  };
}
