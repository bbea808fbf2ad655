import type { TaskJson } from '../agents/agent.ts';
import type { Bench } from './bench.ts';
import { codeOf } from './door.ts';
import { makeTurn } from './prompt.ts';
import { turnWithMail } from './work.ts';

/** What a lead does besides answering its mail: it hears of its team in digests, and does what is reserved for it. */
export interface Lead {
  /** It was told everything up to this batch; undefined: nothing yet. */
  readonly knows: number | undefined;
  /** Why its last turn failed, if it did. */
  readonly failure: string | undefined;
  /** A turn if there is something to tell, after `wake`; says what it produced, or undefined when there was nothing. */
  listen(wake: () => Promise<void>): Promise<string | undefined>;
  /** Something happened: what failed may be tried again. */
  stir(): void;
  /** It may have forgotten what it knew: it is told its goal and the state of its team again. */
  forget(): void;
  /** The next task that is reserved for it; it takes no others. */
  claim(): Promise<TaskJson | undefined>;
}

/** It changed since it was listed, the lead only coordinates, or the file that it is also kept in is broken. */
const EXPECTED: ReadonlySet<string> = new Set(['claim_conflict', 'conflict', 'blocked', 'not_allowed', 'corrupt']);

/**
 * Begins to lead. `goal` is what it is to achieve, told once; one that takes a conversation up again is told where its
 * team stands instead.
 */
export function beginToLead(bench: Bench, { goal, resumed }: { goal: string; resumed: boolean }): Lead {
  const { door, who } = bench;
  const { teamId } = who;
  let knows: number | undefined;
  let failure: string | undefined;
  let retries = false;
  let forgot = false;

  return {
    get knows() {
      return knows;
    },
    get failure() {
      return failure;
    },
    async listen(wake) {
      if (failure !== undefined && !retries) return undefined;
      retries = false;
      const isFirst = knows === undefined;
      const news = await door.call('team.digest', { teamId, ...(knows !== undefined && { after: knows }) });
      const messages = await bench.mail.take(bench.seat.sessionId);
      // It is not woken to be reminded of what it forgot; that comes with the next turn.
      if (!isFirst && messages.length === 0 && !news.due) return undefined;
      await wake();
      const digest = forgot ? await door.call('team.digest', { teamId }) : news;
      const tellsGoal = forgot || (isFirst && !resumed);
      forgot = false;
      const end = await turnWithMail(bench, makeTurn({ messages, digest: digest.text, ...(tellsGoal && { goal }) }));
      failure = end.reason === 'done' ? undefined : (end.error ?? `the turn was ${end.reason}`);
      // What a turn that did not go well was told is told again with the next, and that waits until something happens.
      if (failure === undefined) knows = digest.seq;
      return end.text || (end.error ?? '');
    },
    stir() {
      retries = true;
    },
    forget() {
      forgot = true;
    },
    async claim() {
      const reserved = await door.call('task.list', { teamId, assigneeId: who.memberId, status: 'pending' });
      for (const { id } of reserved) {
        try {
          const task = await door.call('task.claim', { teamId, taskId: id });
          if (task) return task;
        } catch (error) {
          if (!EXPECTED.has(codeOf(error) ?? '')) throw error;
        }
      }
      return undefined;
    },
  };
}
