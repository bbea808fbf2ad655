import { z } from 'zod';
import { USER } from '../core/actor.ts';
import { TeamError } from '../core/errors.ts';
import {
  AnswerRequestInput,
  ApproveInput,
  OwnKind,
  RaiseRequestInput,
  RejectInput,
  RequestShutdownInput,
  RequestStatus,
  SubmitPlanInput,
  TeamRequest,
} from '../core/request.ts';
import { readComment, WrittenComments } from '../core/review.ts';
import { sameQuestion } from '../core/rules/question.ts';
import { requirePending } from '../core/rules/request.ts';
import type { TeamState } from '../core/state.ts';
import { quote } from '../core/text.ts';
import { requireTeam } from '../core/view.ts';
import { answerRequest } from '../ledger/answer-request.ts';
import { InTeam } from './inputs.ts';
import { operation } from './operation.ts';
import type { Context } from './operation.ts';
import { pageOf, requireCursor } from './page.ts';

export const requestOperations = [
  operation({
    name: 'request.list',
    summary:
      'List requests and their answers: shutdowns, plans, permissions, gates, budgets, restarts, work, reviews, questions',
    scope: 'reader',
    long: true,
    input: InTeam.extend({
      status: RequestStatus.optional().describe('only with this status'),
      kind: TeamRequest.shape.kind.optional().describe('only these'),
      after: AnswerRequestInput.shape.requestId.optional().describe('only requests after this one'),
    }),
    result: z.array(TeamRequest),
    route: 'GET /api/teams/:teamId/requests',
    cli: { examples: ['troupe request list --team demo --status pending'] },
    run: ({ ledger, more }, { teamId, status, kind, after }) =>
      ledger.view(teamId, (state) => {
        requireTeam(state);
        const all = [...state.requests.values()];
        if (after !== undefined) all.splice(0, all.indexOf(requireCursor(state.requests.get(after), after)) + 1);
        const asked = all.filter(
          (request) =>
            (status === undefined || request.status === status) && (kind === undefined || request.kind === kind),
        );
        return pageOf(asked, { more });
      }),
  }),
  operation({
    name: 'request.raise',
    summary: 'Ask a person for a permission, a question, or whether to end a silent turn',
    scope: 'member',
    input: RaiseRequestInput.extend({ ...InTeam.shape, kind: OwnKind.describe('what it is about') }),
    result: TeamRequest,
    route: 'POST /api/teams/:teamId/requests',
    cli: {
      args: ['kind', 'content'],
      examples: [
        'troupe request raise permission "May I delete the old tests?" --team demo --member worker-1 --as worker-1',
      ],
    },
    run: ({ ledger, actor, once }, { teamId, ...input }) =>
      ledger.execute(teamId, { type: 'request.raise', by: actor, ...once, ...input }, (state, events) => {
        const [raised] = events;
        const id =
          raised?.type === 'request:raised' ? raised.requestId : state.receipts.get(once.commandId ?? '')?.requestId;
        return found(state.requests.get(id ?? '') ?? sameQuestion(state, input));
      }),
  }),
  operation({
    name: 'request.answer',
    summary:
      'Answer a request: work to approve, work that a gate keeps rejecting, a permission, a budget, a restart, a question',
    scope: 'admin',
    input: AnswerRequestInput.extend({
      ...InTeam.shape,
      comments: WrittenComments.optional().describe('of a request about work: what you say about single lines'),
    }),
    result: TeamRequest.extend({
      unsaved: z
        .array(z.string())
        .optional()
        .describe('of accepted work: what was in no save, so that it did not land'),
    }),
    route: 'POST /api/teams/:teamId/requests/:requestId/answer',
    cli: {
      args: ['requestId'],
      examples: [
        'troupe request answer REQUEST --approve --team demo',
        'troupe request answer REQUEST --no-approve --feedback "Keep them" --team demo',
      ],
    },
    run: ({ ledger, works, once }, { teamId, comments, ...rest }) => {
      const input = { ...rest, ...(comments && { comments: comments.map(readComment) }) };
      return answerRequest(ledger, works, { teamId, input, once });
    },
  }),
  operation({
    name: 'request.judge',
    summary: 'Run the gate again on work that waits for a person; if it passes, the task is completed',
    scope: 'admin',
    input: InTeam.extend({ requestId: AnswerRequestInput.shape.requestId }),
    result: TeamRequest,
    route: 'POST /api/teams/:teamId/requests/:requestId/judge',
    cli: { args: ['requestId'], examples: ['troupe request judge REQUEST --team demo'] },
    run: judgeAgain,
  }),
  operation({
    name: 'shutdown.request',
    summary: 'Ask a member to stop',
    scope: 'member',
    input: RequestShutdownInput.extend(InTeam.shape),
    result: TeamRequest,
    route: 'POST /api/teams/:teamId/members/:memberId/shutdown',
    message: { type: 'shutdown_teammate', answer: 'shutdown_requested', fields: (request) => ({ request }) },
    cli: { args: ['memberId'], examples: ['troupe shutdown request worker-1 --team demo --reason "the work is done"'] },
    run: ({ ledger, actor, once }, { teamId, ...input }) =>
      ledger.execute(teamId, { type: 'shutdown.request', by: actor, ...once, ...input }, (state) =>
        found(
          [...state.requests.values()].findLast(
            (request) => request.kind === 'shutdown' && request.memberId === input.memberId,
          ),
        ),
      ),
  }),
  operation({
    name: 'shutdown.approve',
    summary: 'Agree to stop',
    scope: 'member',
    input: ApproveInput.extend(InTeam.shape),
    result: TeamRequest,
    route: 'POST /api/teams/:teamId/shutdowns/:requestId/approve',
    cli: { args: ['requestId'], examples: ['troupe shutdown approve REQUEST --team demo --as worker-1'] },
    run: (context, input) => answer(context, 'shutdown.approve', input),
  }),
  operation({
    name: 'shutdown.reject',
    summary: 'Refuse to stop, with the reason',
    scope: 'member',
    input: RejectInput.extend(InTeam.shape),
    result: TeamRequest,
    route: 'POST /api/teams/:teamId/shutdowns/:requestId/reject',
    cli: {
      args: ['requestId', 'feedback'],
      examples: ['troupe shutdown reject REQUEST "I still run the tests" --team demo --as worker-1'],
    },
    run: (context, input) => answer(context, 'shutdown.reject', input),
  }),
  operation({
    name: 'plan.submit',
    summary: 'Submit a plan for approval',
    scope: 'member',
    input: SubmitPlanInput.extend(InTeam.shape),
    result: TeamRequest,
    route: 'POST /api/teams/:teamId/plans',
    cli: { args: ['content'], examples: ['troupe plan submit - --team demo --as worker-1 < plan.md'] },
    run: ({ ledger, actor, once }, { teamId, ...input }) =>
      ledger.execute(teamId, { type: 'plan.submit', by: actor, ...once, ...input }, (state) =>
        found(
          [...state.requests.values()].findLast((request) => request.kind === 'plan' && request.memberId === actor),
        ),
      ),
  }),
  operation({
    name: 'plan.approve',
    summary: 'Approve a plan',
    scope: 'lead',
    input: ApproveInput.extend(InTeam.shape),
    result: TeamRequest,
    route: 'POST /api/teams/:teamId/plans/:requestId/approve',
    cli: { args: ['requestId'], examples: ['troupe plan approve REQUEST --team demo'] },
    run: (context, input) => answer(context, 'plan.approve', input),
  }),
  operation({
    name: 'plan.reject',
    summary: 'Reject a plan with feedback',
    scope: 'lead',
    input: RejectInput.extend(InTeam.shape),
    result: TeamRequest,
    route: 'POST /api/teams/:teamId/plans/:requestId/reject',
    cli: { args: ['requestId', 'feedback'], examples: ['troupe plan reject REQUEST "Keep the old names" --team demo'] },
    run: (context, input) => answer(context, 'plan.reject', input),
  }),
] as const;

/** A completion with the result of the last try. If the gate rejects it, the request stays open. */
async function judgeAgain(
  { ledger, tasks, once }: Context,
  { teamId, requestId }: { teamId: string; requestId: string },
): Promise<TeamRequest> {
  const { taskId, detail } = await ledger.view(teamId, (state) => {
    requireTeam(state);
    const request = requireGate(state, requestId);
    // A repeated call under the same id gets the same answer.
    if (!state.receipts.has(once.commandId ?? '')) requirePending(request);
    return request;
  });
  const { epoch, result } = detail ?? {};
  await tasks.completeTask(teamId, taskId, USER, {
    ...(typeof result === 'string' && { result }),
    ...(typeof epoch === 'number' && { epoch }),
    ...once,
  });
  return ledger.view(teamId, (state) => found(state.requests.get(requestId)));
}

function requireGate(state: TeamState, requestId: string): TeamRequest & { taskId: string } {
  const request = state.requests.get(requestId);
  if (request?.kind === 'gate' && request.taskId !== undefined) return { ...request, taskId: request.taskId };
  throw new TeamError('not_found', `There is no gate request ${quote(requestId)}`, { facts: { list: 'request' } });
}

function answer(
  { ledger, actor, once }: Context,
  type: 'shutdown.approve' | 'shutdown.reject' | 'plan.approve' | 'plan.reject',
  { teamId, feedback = '', ...input }: { teamId: string; requestId: string; feedback?: string | undefined },
): Promise<TeamRequest> {
  return ledger.execute(teamId, { type, by: actor, ...once, ...input, feedback }, (state: TeamState) =>
    found(state.requests.get(input.requestId)),
  );
}

function found(request: TeamRequest | undefined): TeamRequest {
  if (request) return request;
  throw new TeamError('internal', 'The request that was just recorded is not there');
}
