/** Those that wait for changes of teams. Nothing is kept of a team without listeners. */
export function openListeners() {
  const byTeam = new Map<string, Set<() => void>>();

  function wake(team: string): void {
    for (const listener of byTeam.get(team) ?? []) listener();
  }

  return {
    /** How many teams have listeners. */
    get size(): number {
      return byTeam.size;
    },

    /** Calls `listener` whenever the team is woken, until the returned function is called. */
    listen(team: string, listener: () => void): () => void {
      const listeners = byTeam.get(team) ?? new Set();
      byTeam.set(team, listeners.add(listener));
      return () => {
        const present = byTeam.get(team);
        present?.delete(listener);
        if (present?.size === 0) byTeam.delete(team);
      };
    },

    wake,

    wakeAll(): void {
      for (const team of byTeam.keys()) wake(team);
    },
  };
}
