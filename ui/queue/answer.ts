import { call } from '../data/daemon.ts';

/** What is needed of a request to answer it. */
export interface Answerable {
  readonly id: string;
  readonly teamId: string;
  readonly kind: string;
}

/** Says yes or no to a request, by the operation that its kind wants. */
export function answerRequest(request: Answerable, approve: boolean, feedback: string): Promise<unknown> {
  const { teamId, id: requestId, kind } = request;
  const said = feedback.trim() === '' ? {} : { feedback };
  if (kind === 'plan') {
    return approve
      ? call('plan.approve', { teamId, requestId, ...said })
      : call('plan.reject', { teamId, requestId, ...said });
  }
  return call('request.answer', { teamId, requestId, approve, ...said });
}

/** Has the gate judge the work again, as it is now; its no is a failure that says why. */
export function judgeAgain({ teamId, id: requestId }: Answerable): Promise<unknown> {
  return call('request.judge', { teamId, requestId });
}

/** How each kind is called, and what yes and no mean for it. */
export const KINDS: Readonly<Record<string, { name: string; yes: string; no: string; phase: 'gate' | 'failed' }>> = {
  plan: { name: 'Plan', yes: 'Approve', no: 'Reject…', phase: 'gate' },
  permission: { name: 'Permission', yes: 'Allow', no: 'Deny…', phase: 'gate' },
  gate: { name: 'Gate gave up', yes: 'Accept', no: 'Send back…', phase: 'failed' },
  budget: { name: 'Budget reached', yes: 'Go on', no: 'Stop…', phase: 'gate' },
  restart: { name: 'Crashed too often', yes: 'Start again', no: 'Leave stopped…', phase: 'failed' },
  shutdown: { name: 'Shutdown', yes: 'Agree', no: 'Refuse…', phase: 'gate' },
};

export function kindOf(kind: string): { name: string; yes: string; no: string; phase: 'gate' | 'failed' } {
  return KINDS[kind] ?? { name: kind, yes: 'Approve', no: 'Reject…', phase: 'gate' };
}
