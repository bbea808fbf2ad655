import type { TeamRequest } from './request.ts';

/** Which request it is. */
type Named = Pick<TeamRequest, 'kind' | 'detail'>;

/** What each kind asks for. A gate says why: `wordGate`. */
const WORDS: Readonly<Record<Exclude<TeamRequest['kind'], 'gate'>, string>> = {
  permission: 'Permission needed',
  budget: 'A budget is used up',
  restart: 'A member was given up',
  question: 'A question for you',
  hang: 'A turn hangs',
  account: 'An account cannot be used',
  work: 'Work waits for your approval',
  plan: 'A plan waits for your approval',
  review: 'A person is needed',
  shutdown: 'A person is needed',
};

/** What a request asks for, in a few words. */
export function wordRequest(request: Named): string {
  return request.kind === 'gate' ? wordGate(request.detail) : WORDS[request.kind];
}

/** Why a person decides about work, and not a gate. */
export function wordGate(detail: Named['detail']): string {
  if (detail?.['refused'] === true) return 'Refused by the model';
  return detail?.['conflicted'] === true ? 'Repeated conflicts' : 'Rejected work';
}
