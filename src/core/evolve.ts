import { TeamError } from './errors.ts';
import type { TeamEvent } from './event.ts';
import { ACCOUNT_FACTS } from './facts/account.ts';
import type { Apply } from './facts/apply.ts';
import { MEMBER_FACTS } from './facts/member.ts';
import { MESSAGE_FACTS } from './facts/message.ts';
import { NOTE_FACTS } from './facts/note.ts';
import { REQUEST_FACTS } from './facts/request.ts';
import { TASK_FACTS } from './facts/task.ts';
import { TEAM_FACTS } from './facts/team.ts';
import { WORK_FACTS } from './facts/work.ts';
import type { Receipt, TeamState } from './state.ts';
import { putReceipt } from './tables.ts';
import { quote } from './text.ts';

/**
 * Applies an event. It knows no rules: an event is a fact that `decide` made. Changes the state in place and returns
 * it.
 */
export function evolve(state: TeamState, event: TeamEvent): TeamState {
  const apply = APPLY.get(event.type);
  if (!apply) {
    const type: unknown = event.type;
    throw new TeamError(
      'unsupported',
      `Team ${state.teamId} holds an event ${quote(String(type))} of a newer Troupe: update Troupe to open it`,
    );
  }
  apply(state, event);
  if (event.cause !== undefined) putReceipt(state, event.cause, receiptOf(event));
  return state;
}

const FACTS: Apply = {
  ...TEAM_FACTS,
  ...MEMBER_FACTS,
  ...TASK_FACTS,
  ...WORK_FACTS,
  ...MESSAGE_FACTS,
  ...REQUEST_FACTS,
  ...NOTE_FACTS,
  ...ACCOUNT_FACTS,
};

/** A Map, because types come from a disk: "constructor" exists on every object. */
const APPLY = new Map(Object.entries(FACTS) as [string, (state: TeamState, event: TeamEvent) => void][]);

/** The first event of a command says what the command was about. */
function receiptOf(event: TeamEvent): Receipt {
  const receipt: Receipt = { by: event.by };
  if (event.print !== undefined) receipt.print = event.print;
  if ('taskId' in event && event.taskId !== undefined) receipt.taskId = event.taskId;
  if ('memberId' in event && event.memberId !== undefined) receipt.memberId = event.memberId;
  if ('copies' in event) receipt.messageIds = event.copies.map(({ id }) => id);
  if (event.type === 'message:delivered') receipt.messageIds = event.messageIds;
  if ('requestId' in event) receipt.requestId = event.requestId;
  if ('noteId' in event) receipt.noteId = event.noteId;
  return receipt;
}
