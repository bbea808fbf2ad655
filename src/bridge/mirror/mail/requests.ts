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
 * Requests in native protocol. A member of ours in a seat asks: its plan goes to the native lead, a permission to the
 * person at the lead's terminal. Ids are derived, not stored, so that an answer finds its question after a restart too.
 * The native lead asks for a shutdown; the journal keeps its id until the answer.
 */

/** The longest line that the native lead's terminal can show. */
const SHOWN_LENGTH = 1_000;

/** A member's request as native protocol; undefined if no native member answers it. */
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
    // No other key: the oldest version exits at once on an unknown one.
    input: { command, description: oneLine(content, SHOWN_LENGTH) },
    permission_suggestions: [],
  };
}

/** The command for an answer to a member; undefined if no request waits for it. */
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
  // Only the person at the native lead's terminal answers these; the lead's model never sees them.
  return {
    type: 'request.answer',
    by: USER,
    requestId: asked.id,
    approve,
    ...(feedback !== undefined && { feedback }),
  };
}

/** In Claude Code's own form, which it checks. */
function permissionId(requestId: string, stream: string): string {
  const at = /-(\d+)@/.exec(requestId)?.[1] ?? '0';
  const rest = BigInt(`0x${hash(`${stream} ${requestId}`).slice(0, 16)}`).toString(36);
  return `perm-${at}-${rest.padStart(7, '0').slice(-7)}`;
}

/**
 * The request as a shell command. Each version knows only its own tools, and a request for an unknown tool fails. What
 * is not a command becomes a shell comment, which would do nothing.
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
    // Shortened because it was long: its beginning is shown.
    return undefined;
  }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The metadata key for the native lead's shutdown requests. */
const SHUTDOWNS = 'nativeShutdowns';

/** The ids of native shutdown requests that wait for an answer, by member. */
export function openShutdowns(state: TeamState): Readonly<Record<string, string>> {
  return z.record(z.string(), z.string()).safeParse(state.team?.metadata?.[SHUTDOWNS]).data ?? {};
}

/** Stores them in the journal: a later daemon may have to answer. */
export function noteShutdowns(open: Readonly<Record<string, string>>): NewCommand {
  const metadata = { [SHUTDOWNS]: Object.keys(open).length > 0 ? { ...open } : null };
  return { type: 'team.update', by: SYSTEM, metadata };
}

/** The answer to a member's last shutdown request; a stopped member has agreed. */
export function decisionOf(state: TeamState, memberId: string): { approved: boolean; reason: string } | undefined {
  if (state.members.get(memberId)?.status === 'stopped') return { approved: true, reason: '' };
  const last = [...state.requests.values()].findLast((one) => one.kind === 'shutdown' && one.memberId === memberId);
  if (last?.status === 'approved') return { approved: true, reason: '' };
  return last?.status === 'rejected' ? { approved: false, reason: last.feedback ?? '' } : undefined;
}
