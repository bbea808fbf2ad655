import { expect } from 'vitest';
import { z } from 'zod';
import { ReportAccountInput, SetAccountInput } from '../../src/core/account.ts';
import type { Actor } from '../../src/core/actor.ts';
import type { Command, CommandType } from '../../src/core/command.ts';
import { decide } from '../../src/core/decide.ts';
import { TeamError } from '../../src/core/errors.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import { evolve } from '../../src/core/evolve.ts';
import { ChosenId } from '../../src/core/fields.ts';
import { HookConfig, HookType } from '../../src/core/hook.ts';
import { InnerTeam, TeamParent } from '../../src/core/inner.ts';
import { ChangeMemberInput, JoinInput, LeaveInput, PlaceMemberInput } from '../../src/core/member.ts';
import { BroadcastInput, DeliverInput, ReceiptInput, SendMessageInput } from '../../src/core/message.ts';
import { AddNoteInput, RemoveNoteInput, UpdateNoteInput } from '../../src/core/note.ts';
import { parse } from '../../src/core/parse.ts';
import {
  AnswerRequestInput,
  ApproveInput,
  RaiseRequestInput,
  RejectInput,
  RequestShutdownInput,
  SubmitPlanInput,
} from '../../src/core/request.ts';
import { createState } from '../../src/core/state.ts';
import type { TeamState } from '../../src/core/state.ts';
import { ChangeTaskInput, CompleteTaskInput, RejectTaskInput, TASK_COMMANDS } from '../../src/core/task.ts';
import type { SharedTask } from '../../src/core/task.ts';
import { CommitId, TeamWork } from '../../src/core/team-work.ts';
import { CloseTeamInput, CreateTeamInput, UpdateTeamInput } from '../../src/core/team.ts';
import { TIP_COMMANDS } from '../../src/core/tip.ts';
import { RecordUsageInput } from '../../src/core/usage.ts';
import { requireTask, viewTask } from '../../src/core/view.ts';
import { HandedIn, WORK_COMMANDS } from '../../src/core/work.ts';

/** The input schema of each command. A new command must be added here, or this does not compile. */
export const INPUTS = {
  'team.create': CreateTeamInput.extend({ work: TeamWork.optional(), parent: TeamParent.optional() }),
  'team.update': UpdateTeamInput.extend({ work: TeamWork.optional() }),
  'team.close': CloseTeamInput,
  'member.join': JoinInput,
  'member.change': ChangeMemberInput.extend({ use: z.string().nullable().optional(), innerTeam: InnerTeam.optional() }),
  'member.leave': LeaveInput,
  'member.place': PlaceMemberInput,
  ...TASK_COMMANDS,
  'task.complete': CompleteTaskInput.extend({ work: HandedIn.optional(), accepted: z.boolean().optional() }),
  'task.reject': RejectTaskInput.extend({
    work: HandedIn.optional(),
    commit: CommitId.optional(),
    unapproved: z.string().optional(),
  }),
  'request.answer': AnswerRequestInput.extend({ work: HandedIn.optional() }),
  'task.update': ChangeTaskInput.extend({ inner: z.string().optional() }),
  'usage.record': RecordUsageInput.extend({ inner: z.string().optional() }),
  ...WORK_COMMANDS,
  ...TIP_COMMANDS,
  'message.send': SendMessageInput.omit({ type: true }).extend({
    messageId: ChosenId,
    messageType: SendMessageInput.shape.type,
  }),
  'message.receive': SendMessageInput.omit({ type: true }).extend({ messageId: ChosenId }),
  'message.broadcast': BroadcastInput.extend({ messageId: ChosenId }),
  'message.deliver': DeliverInput,
  'message.acknowledge': ReceiptInput,
  'message.read': ReceiptInput,
  'shutdown.request': RequestShutdownInput,
  'shutdown.approve': ApproveInput,
  'shutdown.reject': RejectInput,
  'plan.submit': SubmitPlanInput,
  'plan.approve': ApproveInput,
  'plan.reject': RejectInput,
  'request.raise': RaiseRequestInput,
  'note.add': AddNoteInput,
  'note.update': UpdateNoteInput,
  'note.remove': RemoveNoteInput,
  'hook.register': z.strictObject({ hook: HookConfig }),
  'hook.remove': z.strictObject({ hookType: HookType }),
  'account.report': ReportAccountInput,
  'account.set': SetAccountInput,
} as const satisfies Record<CommandType, z.ZodType>;

/** The input of a command, before it is parsed. */
export type InputOf<T extends CommandType> = z.input<(typeof INPUTS)[T]>;

/** A command of a caller, with its input parsed. Every command comes a second after the last. */
export function commandOf<T extends CommandType>(
  type: T,
  input: InputOf<T>,
  envelope: { by: Actor; at: number; commandId?: string | undefined },
): Command {
  return { type, ...envelope, ...(parse(INPUTS[type], input) as object) } as unknown as Command;
}

/** A team without a store, to try the rules: events are applied at once. */
export class Stage {
  readonly state: TeamState;
  readonly events: TeamEvent[] = [];
  #now = Date.UTC(2026, 0, 1);

  constructor(teamId = 'alpha') {
    this.state = createState(teamId);
  }

  /** The time of the last command. */
  get now(): number {
    return this.#now;
  }

  /** Lets time pass; returns the time then. */
  pass(ms: number): number {
    return (this.#now += ms);
  }

  /** Runs a command as the lead. */
  do<T extends CommandType>(type: T, input: InputOf<T>): TeamEvent[] {
    return this.as('lead', type, input);
  }

  /** Runs a command as any caller. */
  as<T extends CommandType>(by: Actor, type: T, input: InputOf<T>, commandId?: string): TeamEvent[] {
    this.#now += 1000;
    const events = decide(this.state, commandOf(type, input, { by, at: this.#now, commandId }));
    for (const event of events) evolve(this.state, event);
    this.events.push(...events);
    return events;
  }

  /** Runs a command that must be refused; returns the error and checks its form. */
  refuse<T extends CommandType>(by: Actor, type: T, input: InputOf<T>, commandId?: string): TeamError {
    const before = this.events.length;
    let refusal: unknown;
    try {
      this.as(by, type, input, commandId);
    } catch (error) {
      refusal = error;
    }
    expect(this.events.slice(before), `${type} by ${by} was not refused`).toEqual([]);
    expect(refusal).toBeInstanceOf(TeamError);
    const { message } = refusal as TeamError;
    expect(message).toMatch(/^[\x20-\x7e…]+$/);
    return refusal as TeamError;
  }

  /** Adds teammates. */
  join(...names: string[]): this {
    for (const name of names) this.do('member.join', { name });
    return this;
  }

  /** Creates a task and returns its id. */
  task(input: Partial<InputOf<'task.create'>> = {}, by: Actor = 'lead'): string {
    this.as(by, 'task.create', { title: 'a task', ...input });
    return String(this.state.nextTask - 1);
  }

  /** A task as the faces show it, deleted or not. */
  view(taskId: string): SharedTask {
    return viewTask(this.state, requireTask(this.state, taskId, { deleted: true }));
  }

  /** The ids of tasks with a status. */
  tasks(status: SharedTask['status']): string[] {
    return [...this.state.tasks.keys()].filter((id) => this.view(id).status === status);
  }

  /** Claims the next task as a member; its id, or undefined if there is none. */
  claimNext(by: Actor): string | undefined {
    const [claimed] = this.as(by, 'task.claim', {});
    return claimed?.type === 'task:claimed' ? claimed.taskId : undefined;
  }
}

/** A team with a lead and these teammates. */
export function teamOf(...names: string[]): Stage {
  const stage = new Stage();
  stage.as('@user', 'team.create', { name: 'alpha' });
  return stage.join(...names);
}

/** The types of events, in order. */
export function types(events: readonly TeamEvent[]): string[] {
  return events.map((event) => event.type);
}
