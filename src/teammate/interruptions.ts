import type { TaskJson, Turn, TurnEnd } from '../agents/agent.ts';

/** A turn that a guard watches. */
export interface GuardedTurn {
  /** This guard has already interrupted it once. */
  readonly wasInterrupted: boolean;
  readonly task?: TaskJson | undefined;
}

/** Watches a running turn, and ends it if it must. */
export interface TurnGuard {
  /** Runs the turn. `interrupted` says why the guard had to end it. */
  during(
    run: () => Promise<TurnEnd>,
    about: GuardedTurn,
  ): Promise<{ readonly end: TurnEnd; readonly interrupted: string | undefined }>;
}

/** A turn that goes on after interruptions. */
export interface Interruptible {
  /** What the agent gets: after an interruption the turn begins with its reason. */
  again(turn: Turn): Turn;
  /** Runs it under all guards. */
  run(run: () => Promise<TurnEnd>): Promise<{ readonly end: TurnEnd; readonly isInterrupted: boolean }>;
}

const INTERRUPTED = 'Your last turn was interrupted; what you did until then is kept. Go on from there. The reason: ';

/** Puts guards around a turn. Whoever interrupts it, the turn goes on in the same way. */
export function interruptible(guards: readonly TurnGuard[], task?: TaskJson): Interruptible {
  const interrupters = new Set<TurnGuard>();
  let reason: string | undefined;

  return {
    again: (turn) => (reason === undefined ? turn : { ...turn, text: `${INTERRUPTED}${reason}.\n\n${turn.text}` }),
    async run(run) {
      let isInterrupted = false;
      const guarded = guards.reduce(
        (inner, guard) => async () => {
          const { end, interrupted } = await guard.during(inner, { wasInterrupted: interrupters.has(guard), task });
          if (interrupted !== undefined) {
            [isInterrupted, reason] = [true, interrupted];
            interrupters.add(guard);
          }
          return end;
        },
        run,
      );
      const end = await guarded();
      return { end, isInterrupted };
    },
  };
}
