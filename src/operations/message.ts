import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { ChosenId, Slug } from '../core/fields.ts';
import {
  BroadcastInput,
  DeliverInput,
  MessageType,
  ReceiptInput,
  SendMessageInput,
  TeamMessage,
} from '../core/message.ts';
import type { TeamState } from '../core/state.ts';
import { Timestamp } from '../core/time.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { hasScope } from './caller.ts';
import { InTeam, Wait } from './inputs.ts';
import { operation } from './operation.ts';
import type { Context } from './operation.ts';
import { pageOf, requireCursor } from './page.ts';
import { requireSight } from './visible.ts';
import { mattersToInbox, waitFor } from './wait.ts';

const MessageId = {
  messageId: ChosenId.optional().describe('an id of your own; sending again with the same id does nothing'),
};

export const messageOperations = [
  operation({
    name: 'message.send',
    summary: 'Send a message to a member',
    scope: 'member',
    input: SendMessageInput.omit({ type: true }).extend({ ...InTeam.shape, ...MessageId }),
    result: TeamMessage,
    route: 'POST /api/teams/:teamId/messages',
    message: {
      type: 'team_send_message',
      speaker: 'fromId',
      settled: { type: 'direct' },
      answer: 'team_message',
      fields: (message) => ({ message }),
    },
    cli: {
      args: ['toId', 'content'],
      examples: [
        'troupe message send worker-1 "Please look at task 3" --team demo --as lead',
        'troupe message send lead@beta "Is the parser ready?" --team demo --as lead',
      ],
    },
    run: ({ mailbox, actor, once }, { teamId, messageId = once.commandId, ...input }) =>
      mailbox.send(teamId, actor, input, messageId === undefined ? {} : { messageId }),
  }),
  operation({
    name: 'message.broadcast',
    summary: 'Send a message to everybody else on the team',
    scope: 'member',
    input: BroadcastInput.extend({ ...InTeam.shape, ...MessageId }),
    result: z.array(TeamMessage),
    route: 'POST /api/teams/:teamId/broadcasts',
    message: {
      type: 'team_broadcast',
      speaker: 'fromId',
      settled: { type: 'broadcast' },
      answer: 'team_messages',
      fields: (messages) => ({ messages }),
    },
    cli: { args: ['content'], examples: ['troupe message broadcast "Rebase before you push" --team demo --as lead'] },
    run: ({ mailbox, actor, once }, { teamId, messageId = once.commandId, content, ...options }) =>
      mailbox.broadcast(teamId, actor, content, messageId === undefined ? options : { ...options, messageId }),
  }),
  operation({
    name: 'message.inbox',
    summary: 'List the messages of a member',
    scope: 'reader',
    long: true,
    input: InTeam.extend({
      memberId: Slug.optional().describe('whose inbox (default: your own)'),
      unread: z.boolean().default(false).describe('only unread messages'),
      waiting: z.boolean().default(false).describe('only messages that no agent has received'),
      type: MessageType.optional().describe('only of this type'),
      since: Timestamp.optional().describe('not older than this'),
      until: Timestamp.optional().describe('not newer than this'),
      after: TeamMessage.shape.id.max(300).optional().describe('only messages after this one'),
      limit: z.number().int().min(1).max(10_000).optional().describe('at most this many, from the newest'),
      markRead: z.boolean().default(false).describe('mark the returned messages as read'),
      ...Wait,
    }),
    result: z.array(TeamMessage),
    route: 'GET /api/teams/:teamId/inbox',
    cli: {
      command: 'inbox',
      args: ['memberId'],
      flags: { memberId: 'of' },
      examples: [
        'troupe inbox --team demo --as worker-1 --unread',
        'troupe inbox --team demo --as worker-1 --unread --mark-read --wait 30s',
        'troupe inbox worker-1 --team demo --since 10m',
      ],
    },
    run: async (
      context,
      { teamId, memberId, unread, waiting, type, since, until, after, limit, markRead, wait = 0 },
    ) => {
      const owner = ownerOf(context, memberId);
      const { ledger, mailbox, caller, actor, signal, progress, more } = context;
      if (markRead && !hasScope(caller, 'member')) {
        throw new TeamError('not_allowed', 'This credential can read mail but not mark it as read');
      }
      const filter = {
        ...(unread && { read: false }),
        ...(type && { type }),
        ...(since && { since }),
        ...(until && { until }),
      };
      const from = after === undefined ? -Infinity : await orderOf(ledger, { teamId, owner, after });
      const attempt = async () => {
        const all = (await mailbox.getInbox(teamId, owner, filter)).filter(({ order }) => order > from);
        const found = waiting ? all.filter((message) => !message.acknowledgedAt && !message.readAt) : all;
        return wait > 0 && found.length === 0 ? undefined : found.slice(limit === undefined ? 0 : -limit);
      };
      const options = { ms: wait, signal, progress, matters: mattersToInbox(owner) };
      const found = (await waitFor(ledger, teamId, attempt, options)) ?? [];
      const messages = pageOf(found, { more });
      const messageIds = messages.filter((message) => !message.readAt).map((message) => message.id);
      if (markRead && messageIds.length > 0) {
        await ledger.execute(teamId, { type: 'message.read', by: actor, memberId: owner, messageIds }, () => undefined);
      }
      return messages;
    },
  }),
  operation({
    name: 'message.read',
    summary: 'Mark messages as read',
    scope: 'member',
    long: true,
    input: ReceiptInput.extend(InTeam.shape),
    result: z.array(TeamMessage),
    route: 'POST /api/teams/:teamId/members/:memberId/read',
    cli: {
      args: ['memberId', 'messageIds'],
      examples: ['troupe message read worker-1 MESSAGE --team demo --as worker-1'],
    },
    run: (context, input) => mark(context, ['message.read'], input),
  }),
  operation({
    name: 'message.deliver',
    summary: 'Deliver messages to a session; returns those to show',
    scope: 'member',
    long: true,
    input: DeliverInput.extend(InTeam.shape),
    result: z.array(TeamMessage),
    route: 'POST /api/teams/:teamId/members/:memberId/deliver',
    cli: {
      args: ['memberId', 'messageIds'],
      examples: ['troupe message deliver worker-1 MESSAGE --team demo --as worker-1 --session-id s1'],
    },
    run: ({ ledger, actor, once }, { teamId, ...input }) =>
      ledger.execute(teamId, { type: 'message.deliver', by: actor, ...once, ...input }, (state, events) => {
        const ids = events.flatMap((event) => (event.type === 'message:delivered' ? event.messageIds : []));
        const before = ids.length === 0 && state.receipts.get(once.commandId ?? '')?.messageIds;
        return (before ? deliveredBefore(state, before, input) : ids)
          .flatMap((id) => state.messages.get(id) ?? [])
          .sort((a, b) => a.order - b.order);
      }),
  }),
  operation({
    name: 'message.acknowledge',
    summary: 'Record that the agent received these messages',
    scope: 'member',
    long: true,
    input: ReceiptInput.extend({
      ...InTeam.shape,
      read: z.boolean().default(false).describe('and that it read them'),
    }),
    result: z.array(TeamMessage),
    route: 'POST /api/teams/:teamId/members/:memberId/acknowledge',
    cli: {
      args: ['memberId', 'messageIds'],
      examples: ['troupe message acknowledge worker-1 MESSAGE --team demo --as worker-1'],
    },
    run: (context, { read, ...input }) =>
      mark(context, read ? ['message.acknowledge', 'message.read'] : ['message.acknowledge'], input),
  }),
] as const;

/** The position of a message in its owner's mail. */
function orderOf(
  ledger: Ledger,
  { teamId, owner, after }: Record<'teamId' | 'owner' | 'after', string>,
): Promise<number> {
  return ledger.view(teamId, ({ messages }) => {
    const last = messages.get(after);
    return requireCursor(last?.toId === owner ? last.order : undefined, after);
  });
}

/** For a retry after a lost answer: what the session got but has not acknowledged. Nobody else shows it. */
function deliveredBefore(
  { messages }: TeamState,
  fresh: readonly string[],
  { messageIds, sessionId }: { messageIds: readonly string[]; sessionId: string },
): string[] {
  return messageIds.filter((id) => {
    const message = messages.get(id);
    if (message?.sessionId !== sessionId || message.acknowledgedAt) return false;
    return fresh.includes(id) || message.redeliveries > 0;
  });
}

/** The owner of the inbox: by default the caller. */
function ownerOf(context: Context, memberId: string | undefined): string {
  const owner = memberId ?? context.actor;
  if (owner.startsWith('@')) {
    throw new TeamError('invalid', 'Whose inbox?', { facts: { needs: 'speaker' } });
  }
  requireSight(context, 'mail', owner);
  return owner;
}

function mark(
  context: Context,
  types: readonly ('message.read' | 'message.acknowledge')[],
  { teamId, ...input }: { teamId: string; memberId: string; messageIds: string[] },
): Promise<TeamMessage[]> {
  const { ledger, actor, once } = context;
  // A repeated command is not judged again, so check here that the caller may see the answer.
  const owner = ownerOf(context, input.memberId);
  // Only the first step carries the call's id: a second step under it would count as done.
  const steps = types.map((type, i) => ({ type, by: actor, ...(i === 0 && once), ...input }));
  return ledger.execute(teamId, steps, (state) =>
    input.messageIds.flatMap((id) => state.messages.get(id) ?? []).filter((message) => message.toId === owner),
  );
}
