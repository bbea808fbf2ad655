import type { TaskJson } from '../agents/agent.ts';
import type { Bench } from './bench.ts';
import { codeOf } from './door.ts';
import { makeTurn } from './prompt.ts';
import { turnWithMail } from './work.ts';

/** What a lead does besides answering messages: it gets digests of its team, and does the tasks reserved for it. */
export interface Lead {
  /** The last batch that it was told about; undefined: none yet. */
  readonly knows: number | undefined;
  /** Why its last turn failed, if it did. */
  readonly failure: string | undefined;
  /** Runs a turn if there is something to tell, after `wake`. Returns its text; undefined if there was nothing. */
  listen(wake: () => Promise<void>): Promise<string | undefined>;
  /** Somebody else did something, so a failed turn may be retried. */
  stir(): void;
  /** It may have forgotten its goal and the state of its team: both are told again. */
  forget(): void;
  /** The next task that is reserved for it; it takes no others. */
  claim(): Promise<TaskJson | undefined>;
}

/** The task changed since it was listed, the lead only coordinates, or the task's native file is broken. */
const EXPECTED: ReadonlySet<string> = new Set(['claim_conflict', 'conflict', 'blocked', 'not_allowed', 'corrupt']);

/** Starts leading. A lead whose conversation has its goal gets only the state of its team. */
export function beginToLead(bench: Bench, { goal, knowsGoal }: { goal: string; knowsGoal: boolean }): Lead {
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
      const messages = await bench.mail.take(bench.conversation.sessionId);
      // Not woken only to be reminded of what it forgot; that comes with the next turn.
      if (!isFirst && messages.length === 0 && !news.due) return undefined;
      await wake();
      const digest = forgot ? await door.call('team.digest', { teamId }) : news;
      const tellsGoal = forgot || (isFirst && !knowsGoal);
      forgot = false;
      const end = await turnWithMail(bench, makeTurn({ messages, digest: digest.text, ...(tellsGoal && { goal }) }));
      failure = end.reason === 'done' ? undefined : (end.error ?? `the turn was ${end.reason}`);
      // After a failed turn the same digest is told again, with the next turn, once something happens.
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
