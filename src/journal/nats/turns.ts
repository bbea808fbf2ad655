/** Runs work on one team in the order of calls, as a file would; teams do not wait for each other. */
export function openTurns() {
  const ends = new Map<string, Promise<unknown>>();

  return {
    run<T>(team: string, work: () => Promise<T>): Promise<T> {
      const turn = (ends.get(team) ?? Promise.resolve()).then(work);
      // The caller gets the failure.
      const end = turn.catch(() => {});
      ends.set(team, end);
      void end.then(() => {
        if (ends.get(team) === end) ends.delete(team);
      });
      return turn;
    },

    /** Resolves when nothing is in progress. */
    async drained(): Promise<void> {
      while (ends.size > 0) await Promise.all(ends.values());
    },
  };
}
