/** What a step is for. */
interface About {
  readonly teamId?: string;
  readonly memberId?: string;
}

/** Runs steps for teams, now or later. A step that fails is reported, and its team is looked at again soon. */
export interface Steps {
  run(about: About, work: () => Promise<void>): Promise<void>;
  later(ms: number, about: About, work: () => Promise<void>): void;
  /** Looks at a team soon, and again for as long as something waits there. */
  lookAgain(teamId: string): void;
  /** Forgets what was to be done later. */
  close(): void;
}

/** The parts of steps. */
export interface StepsOptions {
  /** Looks at a team, and resolves with true if something still waits there. */
  readonly look: (teamId: string) => Promise<boolean>;
  readonly onError: (error: unknown, about: About) => void;
}

/** When a team is looked at again after a step for it failed. */
const LOOK_AGAIN_MS = 2_000;

/** No step runs yet. */
export function openSteps({ look, onError }: StepsOptions): Steps {
  const timers = new Set<NodeJS.Timeout>();
  /** Teams that are looked at again soon. */
  const doubtful = new Set<string>();
  let isClosed = false;

  const steps: Steps = {
    async run(about, work) {
      try {
        await work();
      } catch (error) {
        onError(error, about);
        if (about.teamId !== undefined) steps.lookAgain(about.teamId);
      }
    },
    later(ms, about, work) {
      if (isClosed) return;
      const timer = setTimeout(() => {
        timers.delete(timer);
        void steps.run(about, work);
      }, ms);
      timers.add(timer);
    },
    lookAgain(teamId) {
      if (isClosed || doubtful.has(teamId)) return;
      doubtful.add(teamId);
      steps.later(LOOK_AGAIN_MS, { teamId }, async () => {
        doubtful.delete(teamId);
        if (await look(teamId)) steps.lookAgain(teamId);
      });
    },
    close() {
      isClosed = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
  return steps;
}
