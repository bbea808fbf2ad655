import type { Command } from './command.ts';
import { TeamError } from './errors.ts';
import type { TeamEvent } from './event.ts';
import { fingerprintOf } from './fingerprint.ts';
import { ACCOUNT_RULES } from './rules/account.ts';
import { answerRequest, reviewWork } from './rules/answer.ts';
import { APPROVAL_RULES } from './rules/approval.ts';
import { requireHost } from './rules/guard.ts';
import { LANDING_RULES } from './rules/landing.ts';
import { changeMember, joinTeam, leaveTeam, placeMember, recordUsage } from './rules/member.ts';
import { acknowledgeMessages, broadcastMessage, deliverMessages, readMessages, sendMessage } from './rules/message.ts';
import { addNote, removeNote, updateNote } from './rules/note.ts';
import { receiveMessage } from './rules/peers.ts';
import {
  approvePlan,
  approveShutdown,
  raiseRequest,
  rejectPlan,
  rejectShutdown,
  requestShutdown,
  submitPlan,
} from './rules/request.ts';
import type { Rules } from './rules/rule.ts';
import { TASK_RULES } from './rules/task.ts';
import { closeTeam, createTeam, registerHook, removeHook, updateTeam } from './rules/team.ts';
import { TIP_RULES } from './rules/tip.ts';
import { WORK_RULES } from './rules/work.ts';
import type { TeamState } from './state.ts';
import { quote } from './text.ts';

/**
 * Decides a command: returns the events to record, none if nothing changes, or throws a `TeamError`. Pure: it changes
 * nothing. The verb's schema has parsed the input, so this does not check it again. A command whose id the team
 * remembers was done before and has no events. Another command under that id is refused.
 */
export function decide(state: TeamState, asked: Command): TeamEvent[] {
  const command = asked.onHost === undefined ? asked : withoutHost(state, asked);
  const rule = FINDABLE.get(command.type);
  if (!rule) {
    const type: unknown = command.type;
    throw new TeamError('invalid', `There is no command ${quote(String(type))}`);
  }
  if (command.commandId === undefined) return rule(state, command);
  const print = command.print ?? fingerprintOf(command);
  if (wasDone(state, command, print)) return [];
  const events = rule(state, command);
  // The event is new and not shared yet, so it may be changed; a copy would cost every claim 0.5 us.
  const first: { print?: string | undefined } | undefined = events[0];
  if (first) first.print = print;
  return events;
}

/** Usage counts, no matter who reports it. All else is accepted only from the process that runs the member now. */
function withoutHost(state: TeamState, { onHost = '', ...command }: Command): Command {
  if (command.type !== 'usage.record') requireHost(state, command.by, onHost);
  return command;
}

/** Whether the team remembers a command; throws if it remembers another one under that id. */
export function wasDone(state: TeamState, { by, commandId = '' }: Sent, print: string): boolean {
  const receipt = state.receipts.get(commandId);
  if (!receipt) return false;
  // Receipts of older versions have no fingerprint.
  const isOther = receipt.print !== undefined && receipt.print !== print;
  if (receipt.by === by && !isOther) return true;
  const whose = receipt.by === by ? 'was used for another command' : 'is used by another caller';
  throw new TeamError('conflict', `Command id ${quote(commandId)} ${whose}: take a new one`);
}

type Sent = Pick<Command, 'by' | 'commandId'>;

const RULES: Rules = {
  'team.create': createTeam,
  'team.update': updateTeam,
  'team.close': closeTeam,
  'member.join': joinTeam,
  'member.change': changeMember,
  'member.leave': leaveTeam,
  'member.place': placeMember,
  ...TASK_RULES,
  ...WORK_RULES,
  ...LANDING_RULES,
  ...TIP_RULES,
  ...APPROVAL_RULES,
  'work.review': reviewWork,
  'message.send': sendMessage,
  'message.receive': receiveMessage,
  'message.broadcast': broadcastMessage,
  'message.deliver': deliverMessages,
  'message.acknowledge': acknowledgeMessages,
  'message.read': readMessages,
  'shutdown.request': requestShutdown,
  'shutdown.approve': approveShutdown,
  'shutdown.reject': rejectShutdown,
  'plan.submit': submitPlan,
  'plan.approve': approvePlan,
  'plan.reject': rejectPlan,
  'request.raise': raiseRequest,
  'request.answer': answerRequest,
  'note.add': addNote,
  'note.update': updateNote,
  'note.remove': removeNote,
  'hook.register': registerHook,
  'hook.remove': removeHook,
  'usage.record': recordUsage,
  ...ACCOUNT_RULES,
};

/** A Map, because types may come from anywhere: "constructor" exists on every object. */
const FINDABLE = new Map(Object.entries(RULES) as [string, (state: TeamState, command: Command) => TeamEvent[]][]);
