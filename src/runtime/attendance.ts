/** Which teams have a client that looks after them, such as an editor. */
export interface Attendance {
  /** The client is there. Call the result when it is gone. */
  enter(teamId: string, graceMs: number): () => void;
  /** Forgets all clients; no members are stopped any more. */
  close(): void;
}

/** What the attendance of a team leads to. */
export interface AttendanceOptions {
  /** Stops the members of a team that nobody attends any more. */
  readonly rest: (teamId: string) => Promise<unknown>;
  readonly onError: (error: unknown, about: { teamId: string }) => void;
}

interface Attended {
  clients: number;
  timer?: NodeJS.Timeout | undefined;
}

/**
 * Stops the members of teams whose last client is gone. Editors kill their agents without a word, so only the daemon
 * can tell: by the connection. A client that reconnects within the grace keeps its team.
 */
export function openAttendance({ rest, onError }: AttendanceOptions): Attendance {
  const teams = new Map<string, Attended>();
  return {
    enter(teamId, graceMs) {
      const attended: Attended = teams.get(teamId) ?? { clients: 0 };
      teams.set(teamId, attended);
      attended.clients++;
      clearTimeout(attended.timer);
      let isGone = false;
      return () => {
        if (isGone) return;
        isGone = true;
        if (--attended.clients > 0 || teams.get(teamId) !== attended) return;
        attended.timer = setTimeout(() => {
          teams.delete(teamId);
          rest(teamId).catch((error: unknown) => onError(error, { teamId }));
        }, graceMs);
      };
    },
    close() {
      for (const { timer } of teams.values()) clearTimeout(timer);
      teams.clear();
    },
  };
}
