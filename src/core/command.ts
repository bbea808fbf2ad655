import type { ReportAccountInput, SetAccountInput } from './account.ts';
import type { Actor } from './actor.ts';
import type { Granted } from './budget.ts';
import type { HookConfig, HookType } from './hook.ts';
import type { InnerTeam, TeamParent } from './inner.ts';
import type { ChangeMemberInput, JoinInput, LeaveInput, PlaceMemberInput } from './member.ts';
import type { BroadcastInput, DeliverInput, ReceiptInput, SendMessageInput } from './message.ts';
import type { AddNoteInput, RemoveNoteInput, UpdateNoteInput } from './note.ts';
import type {
  AnswerRequestInput,
  ApproveInput,
  RaiseRequestInput,
  RejectInput,
  RequestShutdownInput,
  SubmitPlanInput,
} from './request.ts';
import type { ChangeTaskInput, CompleteTaskInput, CreateTaskInput, RejectTaskInput, TaskCommandData } from './task.ts';
import type { TeamWork } from './team-work.ts';
import type { CloseTeamInput, CreateTeamInput, UpdateTeamInput } from './team.ts';
import type { TipCommandData } from './tip.ts';
import type { RecordUsageInput } from './usage.ts';
import type { HandedIn, WorkCommandData } from './work.ts';

/** The data of each command, besides its envelope: the parsed input of its verb. */
export interface CommandData extends TaskCommandData, WorkCommandData, TipCommandData {
  /** Only Troupe itself says where members work, and for which task of another team. */
  'team.create': CreateTeamInput & { work?: TeamWork | undefined; parent?: TeamParent | undefined };
  /** Only Troupe itself says which part of a budget people granted; without it, none. */
  'team.update': UpdateTeamInput & { granted?: Granted | undefined; work?: TeamWork | undefined };
  'team.close': CloseTeamInput;
  'member.join': JoinInput;
  /** Only Troupe itself lets a member use a fallback, or (null) its own agent again. */
  'member.change': ChangeMemberInput & {
    granted?: Granted | undefined;
    use?: string | null | undefined;
    innerTeam?: InnerTeam | undefined;
  };
  'member.leave': LeaveInput;
  'member.place': PlaceMemberInput;
  /** Only the bridge chooses an id: that of the same task in another program's list, where it is `native`. */
  'task.create': CreateTaskInput & {
    taskId?: string | undefined;
    native?: string | undefined;
    unjudged?: true | undefined;
  };
  /** Only Troupe itself says that the hooks accepted a new task, and which part of a budget people granted. */
  'task.update': ChangeTaskInput & {
    unjudged?: false | undefined;
    withheld?: string | null | undefined;
    granted?: Granted | undefined;
    /** The team that works on it for its holder. */
    inner?: string | undefined;
  };
  /** Only Troupe itself deletes a task because its hooks rejected it: `unjudged` says that no verdict came before. */
  'task.delete': TaskCommandData['task.delete'] & { unjudged?: true | undefined };
  /** Only Troupe itself releases a task because its lease is over. */
  'task.release': TaskCommandData['task.release'] & { expired?: true | undefined };
  /** Only Troupe itself hands in work, and says that a gate judged the task and accepted it. */
  'task.complete': CompleteTaskInput & { work?: HandedIn | undefined; accepted?: boolean | undefined };
  /** With work, it goes back because it conflicts with what landed. */
  'task.reject': RejectTaskInput & {
    work?: HandedIn | undefined;
    /** The work that the verdict is about; if the holder has handed in another since, the verdict does not count. */
    commit?: string | undefined;
    /** The work changes what its gate or the setup runs: the hash of that. A person who accepts the work approves it. */
    unapproved?: string | undefined;
  };
  'message.send': Omit<SendMessageInput, 'type'> & { messageId: string; messageType: SendMessageInput['type'] };
  /** From a member of another team; `by` is its address. */
  'message.receive': Omit<SendMessageInput, 'type'> & { messageId: string };
  'message.broadcast': BroadcastInput & { messageId: string };
  'message.deliver': DeliverInput;
  'message.acknowledge': ReceiptInput;
  'message.read': ReceiptInput;
  'shutdown.request': RequestShutdownInput;
  'shutdown.approve': ApproveInput;
  'shutdown.reject': RejectInput;
  'plan.submit': SubmitPlanInput;
  'plan.approve': ApproveInput;
  'plan.reject': RejectInput;
  'request.raise': RaiseRequestInput;
  'request.answer': AnswerRequestInput & { work?: HandedIn | undefined };
  'note.add': AddNoteInput;
  'note.update': UpdateNoteInput;
  'note.remove': RemoveNoteInput;
  'hook.register': { hook: HookConfig };
  'hook.remove': { hookType: HookType };
  /** With `inner`, the usage is all that this team used for the task so far: what is not counted yet is recorded. */
  'usage.record': RecordUsageInput & { inner?: string | undefined };
  'account.report': ReportAccountInput;
  'account.set': SetAccountInput;
}

/** The name of a command. */
export type CommandType = keyof CommandData;

/** Fields of every command: when, by whom, and an id that makes a repeated command have no effect. */
export interface CommandEnvelope {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** From the caller's credential. */
  readonly by: Actor;
  readonly commandId?: string | undefined;
  /** The fingerprint of the request that this is a step of; its steps may differ the next time. */
  readonly print?: string | undefined;
  /** The daemon whose process speaks for a member. It is refused once another daemon runs the member. */
  readonly onHost?: string | undefined;
}

/** One command of the given type. */
export type CommandOf<T extends CommandType> = { readonly type: T } & CommandEnvelope & Readonly<CommandData[T]>;

/** A wanted change of a team. Its input is parsed and its caller known. */
export type Command = { [T in CommandType]: CommandOf<T> }[CommandType];
