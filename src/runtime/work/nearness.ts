import type { TeamState } from '../../core/state.ts';
import type { Projects } from './project.ts';

/** What `openNearness` needs. */
export interface NearnessOptions {
  readonly projects: Projects;
  readonly onError: (error: unknown, about: { teamId: string }) => void;
}

/** A person may make or remove a checkout at any time. */
const LOOK_AGAIN_MS = 30_000;

/**
 * Knows whether this machine has a checkout of a team's project. Machines that have one take members first: another one
 * would have to get the whole project, which may be too large.
 */
export function openNearness({ projects, onError }: NearnessOptions) {
  const known = new Map<string, { readonly base: string; readonly isNear: boolean | undefined; readonly at: number }>();
  let tell = (_teamId: string): void => {};

  return {
    /** Whether it has one; undefined while it is being looked for. */
    of({ teamId, team }: TeamState): boolean | undefined {
      const { base = '', repository = '', roots } = team?.work ?? {};
      if (!roots) return true;
      const found = known.get(teamId);
      const isSame = found?.base === base;
      if (isSame && Date.now() - found.at < LOOK_AGAIN_MS) return found.isNear;
      known.set(teamId, { base, isNear: isSame ? found.isNear : undefined, at: Date.now() });
      projects.has({ team: teamId, base, repository, roots }).then(
        (isNear) => {
          known.set(teamId, { base, isNear, at: Date.now() });
          tell(teamId);
        },
        (error: unknown) => onError(error, { teamId }),
      );
      return isSame ? found.isNear : undefined;
    },

    /** Calls the listener with each team that was looked for. */
    onKnown(listener: (teamId: string) => void): void {
      tell = listener;
    },
  };
}

export type Nearness = ReturnType<typeof openNearness>;
