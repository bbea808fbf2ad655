import { createHash } from 'node:crypto';
import { z } from 'zod';
import { SYSTEM, USER } from '../../../core/actor.ts';
import type { TeamRequest } from '../../../core/request.ts';
import type { TeamState } from '../../../core/state.ts';
import { oneLine } from '../../../core/text.ts';
import type { NewCommand } from '../../../ledger/ledger.ts';
import type { Protocol } from '../../protocol.ts';
import { nameFor } from '../names.ts';

/*
 * Requests in the words of the native team. A member of ours that sits there asks: its plan goes to the native lead, a permission to the
 * person in front of it. Ids are worked out and not remembered, so that an answer finds its question after a restart as well.
 * The native lead asks: a shutdown, whose id is kept in the journal until it is answered.
 */

/** A line that the native lead's terminal can still show. */
const SHOWN_LENGTH = 1_000;

/** What a member asks as native protocol, or nothing if it is for nobody there. */
export function questionOf(state: TeamState, request: TeamRequest, stream: string): object | undefined {
  const { id: requestId, kind, memberId, content, filePath = '', detail } = request;
  if (kind === 'plan') {
    return { type: 'plan_approval_request', planFilePath: filePath, planContent: content, requestId };
  }
  if (kind !== 'permission') return undefined;
  const { command } = wishOf(detail);
  return {
    type: 'permission_request',
    request_id: permissionId(requestId, stream),
    agent_id: nameFor(state, memberId),
    tool_name: 'Bash',
    tool_use_id: `toolu_${hash(`${stream} use ${requestId}`).slice(0, 24)}`,
    description: oneLine(content, SHOWN_LENGTH),
    // Nothing else may be in it: the oldest version ends at once when it does not know a key.
    input: { command, description: oneLine(content, SHOWN_LENGTH) },
    permission_suggestions: [],
  };
}

/** What an answer that came for a member means here; nothing if nothing waits for it. */
export function answerOf(
  state: TeamState,
  memberId: string,
  protocol: Extract<Protocol, { type: 'plan_approval_response' | 'permission_response' }>,
  stream: string,
): NewCommand | undefined {
  const waiting = (isIt: (request: TeamRequest) => boolean): TeamRequest | undefined =>
    [...state.requests.values()].find(
      (request) => request.status === 'pending' && request.memberId === memberId && isIt(request),
    );
  if (protocol.type === 'plan_approval_response') {
    const plan = waiting(({ id, kind }) => kind === 'plan' && id === protocol.requestId);
    if (!plan) return undefined;
    const about = { by: state.team?.leadId ?? '', requestId: plan.id };
    return protocol.approved
      ? { type: 'plan.approve', ...about }
      : { type: 'plan.reject', ...about, feedback: protocol.feedback ?? '' };
  }
  const asked = waiting(({ id, kind }) => kind === 'permission' && permissionId(id, stream) === protocol.request_id);
  if (!asked) return undefined;
  const granted = commandIn(protocol.response?.['updated_input']);
  const isAmended = granted !== undefined && granted !== wishOf(asked.detail).command;
  const approve = protocol.subtype === 'success' && !isAmended;
  const said = isAmended ? `not this; do instead: ${granted}` : protocol.error;
  const feedback = approve || said === undefined ? undefined : oneLine(said, SHOWN_LENGTH);
  // Only the person in front of the native lead answers these; its model never sees them.
  return {
    type: 'request.answer',
    by: USER,
    requestId: asked.id,
    approve,
    ...(feedback !== undefined && { feedback }),
  };
}

/** In the form of the program's own, which checks it. */
function permissionId(requestId: string, stream: string): string {
  const at = /-(\d+)@/.exec(requestId)?.[1] ?? '0';
  const rest = BigInt(`0x${hash(`${stream} ${requestId}`).slice(0, 16)}`).toString(36);
  return `perm-${at}-${rest.padStart(7, '0').slice(-7)}`;
}

/**
 * What is asked for, as a command: the versions know no tools but their own, and one that a version does not know is asked for in vain. What
 * is no command is shown as a comment, which would do nothing.
 */
function wishOf(detail: Readonly<Record<string, unknown>> | undefined): { command: string } {
  const tool = typeof detail?.['tool'] === 'string' ? detail['tool'] : 'tool';
  const input = detail?.['input'];
  const text = typeof input === 'string' ? input : '';
  return { command: commandIn(parsed(text)) ?? `# ${oneLine(`${tool} ${text}`, SHOWN_LENGTH)}` };
}

function commandIn(input: unknown): string | undefined {
  const command = typeof input === 'object' && input !== null && 'command' in input ? input.command : undefined;
  const line: unknown = Array.isArray(command) ? command.join(' ') : command;
  return typeof line === 'string' ? line : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Shortened, because it was long: its beginning is shown.
    return undefined;
  }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Where a team keeps the shutdown requests of the native lead. */
const SHUTDOWNS = 'nativeShutdowns';

/** The ids of native shutdown requests that wait for an answer, by member. */
export function openShutdowns(state: TeamState): Readonly<Record<string, string>> {
  return z.record(z.string(), z.string()).safeParse(state.team?.metadata?.[SHUTDOWNS]).data ?? {};
}

/** Keeps them in the journal: who answers may be another daemon than the one that was asked. */
export function noteShutdowns(open: Readonly<Record<string, string>>): NewCommand {
  const metadata = { [SHUTDOWNS]: Object.keys(open).length > 0 ? { ...open } : null };
  return { type: 'team.update', by: SYSTEM, metadata };
}

/** How a member's last shutdown request was answered; one that has stopped has agreed. */
export function decisionOf(state: TeamState, memberId: string): { approved: boolean; reason: string } | undefined {
  if (state.members.get(memberId)?.status === 'stopped') return { approved: true, reason: '' };
  const last = [...state.requests.values()].findLast((one) => one.kind === 'shutdown' && one.memberId === memberId);
  if (last?.status === 'approved') return { approved: true, reason: '' };
  return last?.status === 'rejected' ? { approved: false, reason: last.feedback ?? '' } : undefined;
}
