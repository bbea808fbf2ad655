import { NO_SESSION } from '../../core/member-marks.ts';
import type { TeamMember } from '../../core/member.ts';
import type { TeamMessage } from '../../core/message.ts';
import { isAnsweredBy } from '../../core/request.ts';
import type { TeamRequest } from '../../core/request.ts';
import type { TeamConfig } from '../../core/team.ts';
import type { Visit } from '../tool.ts';

/** What a member has not seen: its unread mail, and the requests that concern it. */
export interface News {
  readonly messages: readonly TeamMessage[];
  /** Requests that wait for the member's answer. They are shown until it answers. */
  readonly pending: readonly TeamRequest[];
  /** Answers to requests that the member made. */
  readonly answered: readonly TeamRequest[];
  /** The member's session that Troupe runs. Its mail is shown there too. */
  readonly running: string | undefined;
}

/** Looks for news without changing anything. */
export async function findNews({ call, teamId, memberId, session }: Visit): Promise<News> {
  const unread = await call<TeamMessage[]>('message.inbox', { teamId, unread: true });
  const running = memberId === undefined ? undefined : await runningSession(call, { teamId, memberId });
  // Messages delivered to that session are shown there, so they are left out here. So are messages in earlier answers.
  const messages = unread.filter(
    ({ id, sessionId }) => (running === undefined || sessionId !== running) && !session.handed.has(id),
  );
  const requests = await call<TeamRequest[]>('request.list', { teamId });
  if (requests.length === 0) return { messages, pending: [], answered: [], running };
  const { leadId } = await call<TeamConfig>('team.show', { teamId });
  return {
    messages,
    // Not those that only a person answers: an agent could only try in vain.
    // A reviewer is asked by mail.
    pending: requests.filter(
      (request) =>
        request.status === 'pending' && request.kind !== 'review' && isAnsweredBy(request, { memberId, leadId }),
    ),
    answered: requests.filter(({ id, status }) => status !== 'pending' && session.asked.has(id)),
    running,
  };
}

/** The current session of a member whose agent Troupe runs. This conversation is part of that session. */
export async function runningSession(
  call: Visit['call'],
  who: { teamId: string; memberId: string },
): Promise<string | undefined> {
  const { agent, sessionId } = await call<TeamMember>('member.show', who);
  return agent === undefined || sessionId === NO_SESSION ? undefined : sessionId;
}

/** Whether there is anything that the agent has not seen in this session. */
export function isNew({ messages, pending, answered }: News, { session }: Visit): boolean {
  return messages.length > 0 || answered.length > 0 || pending.some(({ id }) => !session.shown.has(id));
}

/** Whether news waits for the member. */
export async function hasNews(visit: Visit): Promise<boolean> {
  return isNew(await findNews(visit), visit);
}
