import type { SharedTask } from './task.ts';

/*
 * What blocks a task besides its dependencies, and the words for it. Apart from `obstacles.ts`, because every command of
 * the command line loads this, and it must not load the schemas.
 */

/** What keeps every member from a pending task, besides its dependencies. */
export type OwnBlocker = { readonly kind: 'withheld'; readonly why: string } | { readonly kind: 'unjudged' };

/** The fields of a task, in a record or a view, that say so. */
type Own = Pick<SharedTask, OwnBlocker['kind']>;

/** The blockers that a task has by itself, the most important first. These are fast: every claim asks. */
const OWN: {
  readonly [K in OwnBlocker['kind']]: (task: Own) => Extract<OwnBlocker, { readonly kind: K }> | undefined;
} = {
  withheld: ({ withheld: why }) => (why === undefined ? undefined : { kind: 'withheld', why }),
  unjudged: ({ unjudged }) => (unjudged === true ? { kind: 'unjudged' } : undefined),
};
const FINDERS = Object.values(OWN);

/** Whether an obstacle is one of these. */
export function isOwnBlocker(obstacle: { readonly kind: string }): obstacle is OwnBlocker {
  return Object.hasOwn(OWN, obstacle.kind);
}

/** Whether something besides its dependencies blocks a pending task. */
export function hasOwnBlocker(task: Own): boolean {
  return FINDERS.some((find) => find(task) !== undefined);
}

export function ownBlockers(task: Own): OwnBlocker[] {
  return FINDERS.flatMap((find) => find(task) ?? []);
}

/**
 * Why a task is blocked, in few words that follow its name; empty if it is not. `needs` puts the tasks that it waits for
 * into the words of a face, or leaves them out if the face shows them elsewhere.
 */
export function whyBlocked(task: BlockedView, needs: (taskIds: readonly string[]) => string): string {
  if (task.status !== 'blocked') return '';
  const own = ownBlockers(task).map(explainOwn);
  // A newer daemon may know reasons that have no field here.
  const { blockedBy, filesHeldBy = [] } = task;
  if (own.length === 0 && blockedBy.length === 0 && filesHeldBy.length === 0) return task.blockedReason ?? 'is blocked';
  const tasks = blockedBy.length === 0 ? '' : needs(blockedBy);
  const files =
    filesHeldBy.length === 0 ? '' : `changes the same files as ${filesHeldBy.map((id) => `#${id}`).join(', ')}`;
  return [...own, tasks, files].filter((text) => text !== '').join(', ');
}

type BlockedView = Pick<SharedTask, 'status' | 'blockedBy' | 'filesHeldBy' | 'blockedReason'> & Own;

/** A blocker as text that follows the name of its task. */
export function explainOwn(blocker: OwnBlocker): string {
  switch (blocker.kind) {
    case 'withheld':
      return `is withheld: ${blocker.why}`;
    case 'unjudged':
      return 'waits for the hooks that judge new tasks';
  }
}
