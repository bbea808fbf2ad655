import { z } from 'zod';
import { addressOf, LEAD } from '../../core/address.ts';
import { TeamError } from '../../core/errors.ts';
import { SHUTDOWN_WITHIN } from '../../core/limits.ts';
import type { TeamMessage } from '../../core/message.ts';
import type { TeamRequest } from '../../core/request.ts';
import type { Answer, Visit } from '../tool.ts';
import { fromMemberName, TEAM_LEAD } from '../words.ts';
import { rosterOf } from './roster.ts';

const PROTOCOL = ['shutdown_request', 'shutdown_response', 'plan_approval_request', 'plan_approval_response'] as const;

/** Protocol messages must be objects. A text that looks like one is only text. */
const ProtocolMessage = z.strictObject({
  type: z.enum(PROTOCOL),
  request_id: z.string().optional(),
  approve: z.boolean().optional(),
  reason: z.string().optional(),
  feedback: z.string().optional(),
  plan: z.string().optional(),
});

/**
 * Both shapes that agents are trained on: `{to, message, summary}`, and the older one with type, recipient, content.
 */
export const SendMessageInput = z.strictObject({
  to: z.string().optional().describe('a member, "team-lead", "*" for all, or "lead@OTHER-TEAM"'),
  message: z
    .union([z.string(), ProtocolMessage], {
      error: `must be a text, or an object with one of the types ${PROTOCOL.join(', ')}; only a person answers other requests`,
    })
    .optional(),
  summary: z.string().optional().describe('5 to 10 words'),
  notify_when_idle: z.boolean().optional(),
  type: z
    .enum(['message', 'broadcast', ...PROTOCOL])
    .optional()
    .describe('older form, with those below'),
  recipient: z.string().optional(),
  content: z.string().optional(),
  request_id: z.string().optional(),
  approve: z.boolean().optional(),
});
type SendMessageInput = z.output<typeof SendMessageInput>;

/** Sends what the agent meant, in either shape. */
export function sendMessage(visit: Visit, input: SendMessageInput): Promise<Answer> {
  const { type, to, text, ...rest } = readShape(input);
  switch (type) {
    case 'message':
      return to === '*' ? broadcast(visit, text, input.summary) : send(visit, { ...input, to, text });
    case 'broadcast':
      return broadcast(visit, text, input.summary);
    case 'shutdown_request':
      return requestShutdown(visit, to, text);
    case 'plan_approval_request':
      return submitPlan(visit, text);
    case 'shutdown_response':
      return answerRequest(visit, 'shutdown', { ...rest, text });
    case 'plan_approval_response':
      return answerRequest(visit, 'plan', { ...rest, text });
  }
}

interface Meant {
  readonly type: 'message' | 'broadcast' | (typeof PROTOCOL)[number];
  readonly to: string | undefined;
  readonly text: string;
  readonly requestId: string | undefined;
  readonly approve: boolean | undefined;
}

function readShape(input: SendMessageInput): Meant {
  const { message } = input;
  const to = oneOf(['to', input.to], ['recipient', input.recipient]);
  if (input.type === 'broadcast' && to !== undefined && to !== '*') {
    throw new TeamError('invalid', 'to: a broadcast goes to everybody; leave type out to write to one member');
  }
  if (typeof message === 'object') {
    const text = message.plan ?? message.feedback ?? message.reason ?? input.content ?? '';
    return {
      type: oneOf(['message.type', message.type], ['type', input.type]) ?? message.type,
      to,
      text,
      requestId: oneOf(['message.request_id', message.request_id], ['request_id', input.request_id]),
      approve: oneOf(['message.approve', message.approve], ['approve', input.approve]),
    };
  }
  const text = oneOf(['message', message], ['content', input.content]) ?? '';
  return { type: input.type ?? 'message', to, text, requestId: input.request_id, approve: input.approve };
}

/** A field in either shape. If an agent fills both, they must be equal, so that neither is silently dropped. */
function oneOf<T>([name, value]: [string, T | undefined], [older, same]: [string, T | undefined]): T | undefined {
  if (value === undefined || same === undefined || value === same) return value ?? same;
  throw new TeamError('invalid', `${name}: differs from ${older}; give one of them`);
}

async function send(
  visit: Visit,
  { to, text, summary, notify_when_idle }: { to: string | undefined; text: string } & Partial<SendMessageInput>,
): Promise<Answer> {
  const toId = await recipient(visit, to);
  const { id } = await visit.call<TeamMessage>(
    'message.send',
    { teamId: visit.teamId, toId, content: someText(text), ...(summary !== undefined && { summary }) },
    { once: true },
  );
  const idle = notify_when_idle ? ' TeamStatus shows whether it is idle; no notice comes.' : '';
  return { text: `Message sent to ${toId}. An answer comes to your Inbox.${idle}`, data: { message_id: id, to: toId } };
}

async function broadcast(visit: Visit, text: string, summary: string | undefined): Promise<Answer> {
  const sent = await visit.call<TeamMessage[]>(
    'message.broadcast',
    { teamId: visit.teamId, content: someText(text), ...(summary !== undefined && { summary }) },
    { once: true },
  );
  const names = sent.map(({ toId }) => toId);
  const said =
    names.length > 0 ? `Message sent to ${names.join(', ')}.` : 'Nobody else is on the team; nothing was sent.';
  return { text: said, data: { message_ids: sent.map(({ id }) => id), to: names } };
}

async function requestShutdown(visit: Visit, to: string | undefined, reason: string): Promise<Answer> {
  const memberId = await recipient(visit, to);
  if (memberId.includes('@')) {
    throw new TeamError('invalid', `to: ${memberId} is in another team; only text can go there`);
  }
  const request = await visit.call<TeamRequest>(
    'shutdown.request',
    { teamId: visit.teamId, memberId, reason, within: SHUTDOWN_WITHIN },
    { once: true },
  );
  visit.session.asked.add(request.id);
  return {
    text: `${memberId} is asked to shut down (request_id ${request.id}). Its answer comes to your Inbox.`,
    data: { request_id: request.id, to: memberId },
  };
}

async function submitPlan(visit: Visit, plan: string): Promise<Answer> {
  const content = someText(plan, 'message.plan');
  const request = await visit.call<TeamRequest>('plan.submit', { teamId: visit.teamId, content }, { once: true });
  visit.session.asked.add(request.id);
  return {
    text: `Plan submitted (request_id ${request.id}). Change nothing until it is approved: wait with Inbox.`,
    data: { request_id: request.id },
  };
}

async function answerRequest(
  { call, teamId }: Visit,
  kind: 'shutdown' | 'plan',
  { requestId, approve, text }: { requestId: string | undefined; approve: boolean | undefined; text: string },
): Promise<Answer> {
  if (requestId === undefined) throw new TeamError('invalid', 'request_id: say which request you answer');
  if (approve === undefined) throw new TeamError('invalid', 'approve: say true or false');
  const feedback = text === '' ? {} : { feedback: text };
  const request = await call<TeamRequest>(
    `${kind}.${approve ? 'approve' : 'reject'}`,
    { teamId, requestId, ...feedback },
    { once: true },
  );
  const next =
    kind === 'shutdown' && approve
      ? ' Take no new work: finish your turn.'
      : kind === 'plan'
        ? ` ${request.memberId} hears it.`
        : '';
  return {
    text: `The ${kind === 'plan' ? 'plan' : 'shutdown'} is ${request.status}.${next}`,
    data: { request_id: request.id, approve },
  };
}

/** A member, or `member@team` for one of another team. Agents write that for members of their own team, too. */
async function recipient(visit: Visit, name: string | undefined): Promise<string> {
  if (!name) throw new TeamError('invalid', 'to: name the recipient, a member or "*" for everybody');
  if (name === '*') throw new TeamError('invalid', 'to: name one member; only text can go to everybody');
  const roster = await rosterOf(visit);
  const at = name.indexOf('@');
  const teamId = name.slice(at + 1).toLowerCase();
  if (at <= 0 || roster.names.includes(teamId)) return fromMemberName(name, roster);
  const memberId = name.slice(0, at).toLowerCase();
  return addressOf({ memberId: memberId === TEAM_LEAD ? LEAD : memberId, teamId });
}

function someText(text: string, field = 'message'): string {
  if (text.trim() === '') throw new TeamError('invalid', `${field}: is empty`);
  return text;
}
