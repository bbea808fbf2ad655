import { rmSync } from 'node:fs';
import { mkdir, open, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Empty files that are made ahead of need, where the program does not look. To make one is the slowest part of a claim where the file
 * system has much to do; with a spare one, a claim writes and renames. One that is half written when we are killed is in our own folder.
 */
export interface Spares {
  /** The path of one, which is the caller's from now on; nothing where none is ready. */
  take(): string | undefined;
  /** It could not be used: there will be no more, and everybody makes files as they are needed. */
  refuse(error: unknown): void;
  /** How many a team may need at once. */
  want(teamId: string, count: number): void;
  /** Ends it, and removes those that are left. */
  close(): Promise<void>;
}

/** More are never kept, whatever is wanted. */
const MOST = 1_024;

/** So long nobody has taken one before more are made: they are for a burst, and must not be made in it. */
const REST_MS = 100;

/** Begins with none. What an earlier process left in the folder goes. */
export function keepSpares(folder: string, root: string, onError: (error: unknown) => void): Spares {
  const ready: string[] = [];
  const wishes = new Map<string, number>();
  let wanted = 0;
  let made = 0;
  let isOver = false;
  let askedAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let tending: Promise<void> | undefined;
  rmSync(folder, { recursive: true, force: true });

  const isAtRest = (): boolean => performance.now() - askedAt >= REST_MS;

  /** One after the other and in no hurry, so that whatever else is to be done comes in between. */
  const tend = async (): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // From another file system nothing can be renamed.
    if ((await stat(folder)).dev !== (await stat(root)).dev) isOver = true;
    while (!isOver && isAtRest() && ready.length !== wanted) {
      const surplus = ready.length > wanted ? ready.pop() : undefined;
      if (surplus !== undefined) await unlink(surplus);
      else {
        const path = join(folder, String(++made));
        await (await open(path, 'wx', 0o644)).close();
        ready.push(path);
      }
    }
  };

  const plan = (): void => {
    if (isOver || timer || tending || ready.length === wanted) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        tending = tend()
          .catch(fail)
          .finally(() => {
            tending = undefined;
            plan();
          });
      },
      isAtRest() ? 0 : REST_MS,
    ).unref();
  };

  /** The claims do without: this is a matter of their speed only. */
  const fail = (error: unknown): void => {
    if (!isOver) onError(error);
    isOver = true;
  };

  return {
    take() {
      if (wanted === 0) return undefined;
      askedAt = performance.now();
      const path = isOver ? undefined : ready.pop();
      plan();
      return path;
    },
    refuse: fail,
    want(teamId, count) {
      if (count > 0) wishes.set(teamId, count);
      else wishes.delete(teamId);
      wanted = Math.min(
        MOST,
        [...wishes.values()].reduce((sum, one) => sum + one, 0),
      );
      plan();
    },
    async close() {
      isOver = true;
      clearTimeout(timer);
      await tending;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
