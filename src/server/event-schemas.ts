import { z } from 'zod';
import { ACCOUNT_EVENT_DATA } from '../core/account.ts';
import { Actor } from '../core/actor.ts';
import type { EventType } from '../core/event.ts';
import { HOOK_EVENT_DATA } from '../core/hook.ts';
import { MEMBER_EVENT_DATA } from '../core/member.ts';
import { MESSAGE_EVENT_DATA } from '../core/message.ts';
import { NOTE_EVENT_DATA } from '../core/note.ts';
import { PeerAddress } from '../core/peers.ts';
import { REQUEST_EVENT_DATA } from '../core/request.ts';
import { TASK_EVENT_DATA } from '../core/task.ts';
import { TEAM_EVENT_DATA } from '../core/team.ts';
import { TIP_EVENT_DATA } from '../core/tip.ts';
import { USAGE_EVENT_DATA } from '../core/usage.ts';
import { WORK_EVENT_DATA } from '../core/work.ts';

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

/** The schema of every event, for the OpenAPI document. The journal checks its events by a checksum, not by these. */
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
