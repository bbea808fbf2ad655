import type { Actor } from '../../src/core/actor.ts';
import { SYSTEM, USER } from '../../src/core/actor.ts';
import { JoinInput, LeaveInput } from '../../src/core/member.ts';
import { SendMessageInput } from '../../src/core/message.ts';
import { CreateTaskInput } from '../../src/core/task.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import type { Ledger, NewCommand } from '../../src/ledger/ledger.ts';

/** The team of most tests. */
export const TEAM = 'crew';

/** Creates a team with a lead and these teammates. */
export async function createTeam(ledger: Ledger, { name = TEAM, members = ['ann', 'bob'] } = {}): Promise<void> {
  await ledger.execute(name, teamCommands(name, members), () => undefined);
}

export function teamCommands(name: string, members: readonly string[]): NewCommand[] {
  return [
    {
      type: 'team.create',
      by: USER,
      ...CreateTeamInput.parse({ name, maxTeammates: 32, messagesPerMinute: 1_000_000 }),
    },
    ...members.map((member) => join(member)),
  ];
}

export function join(name: string, input: object = {}): NewCommand {
  return { type: 'member.join', by: 'lead', ...JoinInput.parse({ name, ...input }) };
}

export function leave(memberId: string, input: object = {}, by: Actor = SYSTEM): NewCommand {
  return { type: 'member.leave', by, ...LeaveInput.parse({ memberId, ...input }) };
}

export function task(title: string, input: object = {}): NewCommand {
  return { type: 'task.create', by: 'lead', ...CreateTaskInput.parse({ title, ...input }) };
}

export function claim(by: string, taskId?: string): NewCommand {
  return { type: 'task.claim', by, ...(taskId !== undefined && { taskId }) };
}

export function complete(by: Actor, taskId: string, input: object = {}): NewCommand {
  return { type: 'task.complete', by, taskId, ...input };
}

export function message(by: Actor, messageId: string, input: { toId: string; content: string }): NewCommand {
  const { type: messageType, ...rest } = SendMessageInput.parse(input);
  return { type: 'message.send', by, messageId, messageType, ...rest };
}

/** Executes commands as one step, without an answer. */
export function run(ledger: Ledger, ...commands: NewCommand[]): Promise<void> {
  return ledger.execute(TEAM, commands, () => undefined);
}

/** Creates a task and returns its id. */
export function createTask(ledger: Ledger, title: string, input: object = {}): Promise<string> {
  return ledger.execute(TEAM, task(title, input), (_state, [created]) =>
    created?.type === 'task:created' ? created.taskId : 'none',
  );
}
