import { z } from 'zod';
import { ACCOUNT_EVENT_DATA } from './account.ts';
import { Actor } from './actor.ts';
import type { EventType } from './event.ts';
import { HOOK_EVENT_DATA } from './hook.ts';
import { MEMBER_EVENT_DATA } from './member.ts';
import { MESSAGE_EVENT_DATA } from './message.ts';
import { NOTE_EVENT_DATA } from './note.ts';
import { PeerAddress } from './peers.ts';
import { REQUEST_EVENT_DATA } from './request.ts';
import { TASK_EVENT_DATA } from './task-events.ts';
import { TEAM_EVENT_DATA } from './team.ts';
import { TIP_EVENT_DATA } from './tip.ts';
import { USAGE_EVENT_DATA } from './usage.ts';
import { WORK_EVENT_DATA } from './work.ts';

const DATA: Readonly<Record<EventType, z.ZodObject>> = {
  ...TEAM_EVENT_DATA,
  ...HOOK_EVENT_DATA,
  ...MEMBER_EVENT_DATA,
  ...TASK_EVENT_DATA,
  ...WORK_EVENT_DATA,
  ...TIP_EVENT_DATA,
  ...MESSAGE_EVENT_DATA,
  ...REQUEST_EVENT_DATA,
  ...NOTE_EVENT_DATA,
  ...USAGE_EVENT_DATA,
  ...ACCOUNT_EVENT_DATA,
};

/**
 * The schema of every event: for the OpenAPI document, and for events from another machine. The journal checks its own
 * events by a checksum, not by these.
 */
export function eventSchemas(): ReadonlyMap<EventType, z.ZodType> {
  const envelope = {
    at: z.number().int().describe('milliseconds since 1970'),
    by: z
      .union([Actor, PeerAddress])
      .describe('a member, @user, @system, or member@team for a message from another team'),
    cause: z.string().optional().describe('the id of its command'),
    print: z.string().optional().describe("the command's fingerprint"),
  };
  return new Map(
    Object.entries(DATA).map(([type, { shape }]) => [
      type as EventType,
      z.object({ type: z.literal(type), ...envelope, ...shape }),
    ]),
  );
}
