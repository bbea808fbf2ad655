import { NO_SESSION } from '../../core/member.ts';
import type { TeamMember } from '../../core/member.ts';
import type { TeamMessage } from '../../core/message.ts';
import type { TeamRequest } from '../../core/request.ts';
import type { TeamConfig } from '../../core/team.ts';
import type { Visit } from '../tool.ts';

/** What a member has not been shown: its unread mail, and the requests that concern it. */
export interface News {
  readonly messages: readonly TeamMessage[];
  /** Requests that wait for the member's answer. They are told again until they are answered. */
  readonly pending: readonly TeamRequest[];
  /** Answers to requests that the member made. */
  readonly answered: readonly TeamRequest[];
  /** The session of the member that Troupe runs, in which its mail is shown to it as well. */
  readonly running: string | undefined;
}

/** Looks without changing anything. */
export async function findNews({ call, teamId, memberId, session }: Visit): Promise<News> {
  const unread = await call<TeamMessage[]>('message.inbox', { teamId, unread: true });
  const running = memberId === undefined ? undefined : await runningSession(call, { teamId, memberId });
  // What was handed to that session is shown there: here it would be shown twice. So would what an answer carried here.
  const messages = unread.filter(
    ({ id, sessionId }) => (running === undefined || sessionId !== running) && !session.handed.has(id),
  );
  const requests = await call<TeamRequest[]>('request.list', { teamId });
  if (requests.length === 0) return { messages, pending: [], answered: [], running };
  const { leadId } = await call<TeamConfig>('team.show', { teamId });
  return {
    messages,
    pending: requests.filter(
      ({ status, kind, memberId: about }) =>
        status === 'pending' && (kind === 'shutdown' ? about === memberId : leadId === memberId && about !== memberId),
    ),
    answered: requests.filter(({ id, status }) => status !== 'pending' && session.asked.has(id)),
    running,
  };
}

/** The present session of a member whose agent Troupe runs: this conversation is a part of it. */
async function runningSession(
  call: Visit['call'],
  who: { teamId: string; memberId: string },
): Promise<string | undefined> {
  const { agent, sessionId } = await call<TeamMember>('member.show', who);
  return agent === undefined || sessionId === NO_SESSION ? undefined : sessionId;
}

/** Whether there is anything that the agent has not been shown in this session. */
export function isNew({ messages, pending, answered }: News, { session }: Visit): boolean {
  return messages.length > 0 || answered.length > 0 || pending.some(({ id }) => !session.shown.has(id));
}

/** Whether mail waits for the member. */
export async function hasNews(visit: Visit): Promise<boolean> {
  return isNew(await findNews(visit), visit);
}
