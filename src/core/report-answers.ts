import { SYSTEM, USER } from './actor.ts';
import { TEXT_LENGTH } from './report-remark.ts';
import type { Remark } from './report-remark.ts';
import { answererOf } from './request.ts';
import type { TeamRequest } from './request.ts';
import type { TeamState } from './state.ts';
import { firstLine, shorten } from './text.ts';

/** Requests that tell of trouble even if a person has answered them. */
const TROUBLES: readonly TeamRequest['kind'][] = ['hang', 'budget', 'gate', 'account', 'restart'];

/** What nobody answered in time, and what kept the team from working until a person answered. */
export function troubleRemarks(state: TeamState): Remark[] {
  return [...state.requests.values()].flatMap((request): Remark[] => {
    const { id, kind, status, answeredBy, memberId, taskId, content, choice } = request;
    const isLate = status === 'rejected' && answeredBy === SYSTEM && answererOf(kind) === 'person';
    if (!isLate && (answeredBy !== USER || !TROUBLES.includes(kind))) return [];
    const said = shorten(content, TEXT_LENGTH);
    return [
      {
        what: isLate ? 'unanswered' : 'answered',
        kind,
        requestId: id,
        memberId,
        ...(taskId !== undefined && { taskId }),
        text: isLate
          ? `${said}${choice === undefined ? '' : ` The default counted: ${choice}.`}`
          : `${firstLine(said)} You said ${status === 'approved' ? 'yes' : 'no'}.`,
      },
    ];
  });
}

/** The user's answers to plans, questions, permissions and work, oldest first. */
export function answeredRemarks(state: TeamState): Remark[] {
  return [...state.requests.values()]
    .filter(({ answeredBy, kind }) => answeredBy === USER && !TROUBLES.includes(kind))
    .map((request) => {
      const { id, kind, memberId, taskId, content } = request;
      const asked = firstLine(shorten(content, TEXT_LENGTH));
      return {
        what: 'answered',
        kind,
        requestId: id,
        memberId,
        ...(taskId !== undefined && { taskId }),
        text: `${asked}${/[.?!]$/.test(asked) ? '' : '.'} ${wordAnswer(request)}`,
      };
    });
}

function wordAnswer({ kind, status, choice, feedback }: TeamRequest): string {
  const said = shorten([choice, feedback].filter((text) => text !== undefined && text !== '').join(': '), TEXT_LENGTH);
  if (kind === 'question' && status === 'approved') return `You answered: ${said}`;
  const verdict =
    kind === 'question' ? 'You left it to the member' : `You said ${status === 'approved' ? 'yes' : 'no'}`;
  return said === '' ? `${verdict}.` : `${verdict}: ${said}`;
}
