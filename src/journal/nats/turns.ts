/** What is done to one team is done in the order of asking, as a file would have it; teams do not wait for each other. */
export function openTurns() {
  const ends = new Map<string, Promise<unknown>>();

  return {
    run<T>(team: string, work: () => Promise<T>): Promise<T> {
      const turn = (ends.get(team) ?? Promise.resolve()).then(work);
      // A failure is told to those it concerns.
      const end = turn.catch(() => {});
      ends.set(team, end);
      void end.then(() => {
        if (ends.get(team) === end) ends.delete(team);
      });
      return turn;
    },

    /** Resolves when nothing is under way any more. */
    async drained(): Promise<void> {
      while (ends.size > 0) await Promise.all(ends.values());
    },
  };
}
