import { openQueue } from '../../workspaces/queue.ts';
import type { Worker } from './held.ts';

/**
 * Moves each folder for one caller at a time. A turn begins when `begin` or the save before it has answered, and these
 * wait here: so whoever looks here whether the member rests, and moves its folder, moves it under no turn.
 */
export interface Moves {
  readonly alone: <R>(worker: Worker, work: () => Promise<R>) => Promise<R>;
  forget(teamId: string): void;
}

export function openMoves(): Moves {
  const queues = new Map<string, ReturnType<typeof openQueue>>();

  return {
    alone({ teamId, memberId }, work) {
      const key = `${teamId}/${memberId}`;
      const queue = queues.get(key) ?? openQueue();
      queues.set(key, queue);
      return queue(work);
    },
    forget(teamId) {
      for (const key of queues.keys()) if (key.startsWith(`${teamId}/`)) queues.delete(key);
    },
  };
}
