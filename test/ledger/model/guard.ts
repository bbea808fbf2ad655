import type { CommandOf, CommandType } from '../../../src/core/command.ts';
import type { ErrorCode } from '../../../src/core/errors.ts';
import type { Metadata } from '../../../src/core/json.ts';
import type { Member, Request, Team, World } from './world.ts';

/* What the rules of the model share: who may do something, and questions to people. */

/** A command under way: every code with which it may be refused, and what it did. */
export interface Attempt {
  codes: ErrorCode[];
  facts: string[];
}

/** Rules by the names of their commands. */
export type Rules<Name extends string = string> = {
  [T in CommandType & `${Name}.${string}`]: (world: World, command: CommandOf<T>, attempt: Attempt) => void;
};

export function refused(attempt: Attempt): boolean {
  return attempt.codes.length > 0;
}

export function needOpenTeam(world: World, attempt: Attempt): Team | undefined {
  if (!world.team) attempt.codes.push('not_found');
  if (world.team?.status === 'cleaned-up') attempt.codes.push('team_closed');
  return world.team;
}

/** A live member that may get work. A lead in delegate mode may not. */
export function needWorker(world: World, id: string, attempt: Attempt): Member | undefined {
  if (world.team?.delegateMode && world.team.leadId === id) attempt.codes.push('not_allowed');
  return needLive(world, id, attempt);
}

export function needLive(world: World, memberId: string, attempt: Attempt): Member | undefined {
  const member = world.members.find(({ id }) => id === memberId);
  // An actor that is no member, such as @user, must name the member that it acts for.
  if (!member) attempt.codes.push(memberId.startsWith('@') ? 'invalid' : 'not_found');
  if (member?.status === 'stopped') attempt.codes.push('member_stopped');
  return member;
}

export function needActor(world: World, by: string, attempt: Attempt): void {
  if (by !== '@user' && by !== '@system') needLive(world, by, attempt);
}

/** The caller must be the lead, a person, Troupe itself, or `self`. */
export function needManager(world: World, by: string, attempt: Attempt, self?: string): void {
  if (!isManager(world, by) && by !== self) attempt.codes.push('not_allowed');
  needActor(world, by, attempt);
}

/** The caller must be a person or Troupe itself. */
export function needPerson(by: string, attempt: Attempt): void {
  if (by !== '@user' && by !== '@system') attempt.codes.push('not_allowed');
}

export function isManager(world: World, by: string): boolean {
  return ['@user', '@system', world.team?.leadId].includes(by);
}

/** Sets the given fields, and merges metadata. */
export function change<T extends { metadata?: Metadata | undefined }>(
  record: T,
  changes: { [K in keyof T]?: T[K] | undefined },
  metadata?: Metadata,
): void {
  for (const [key, value] of Object.entries(changes)) if (value !== undefined) Object.assign(record, { [key]: value });
  if (metadata === undefined) return;
  const entries = Object.entries({ ...record.metadata, ...metadata }).filter(([, value]) => value !== null);
  record.metadata = entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

export function ask(
  world: World,
  request: Omit<Request, 'requestedBy' | 'requestedAt' | 'status'>,
  { at, by }: { at: number; by: Request['requestedBy'] },
): void {
  world.requests.push({ ...request, requestedBy: by, requestedAt: at, status: 'pending' });
}

export function pendingGate(world: World, taskId: string): Request | undefined {
  const holder = world.tasks.find(({ id }) => id === taskId)?.assigneeId;
  return world.requests.find(
    ({ status, kind, memberId, taskId: about }) =>
      status === 'pending' && kind === 'gate' && about === taskId && memberId === holder,
  );
}

export function unusedId(world: World, at: number, make: (at: number) => string): string {
  return world.requests.some(({ id }) => id === make(at)) ? unusedId(world, at + 1, make) : make(at);
}
