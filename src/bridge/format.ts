import { z } from 'zod';
import { isNativeTaskId } from './layout.ts';

/*
 * The files of Claude Code, for every version that was measured. Loose: unknown fields are theirs and stay.
 */

const Text = z.string();

/** A member as `config.json` lists it; the simplified form has little more than a name. */
export const NativeMember = z.looseObject({
  name: Text.min(1),
  agentId: Text.optional(),
  agentType: Text.optional(),
  model: Text.optional(),
  prompt: Text.optional(),
  color: Text.optional(),
  planModeRequired: z.boolean().optional(),
  joinedAt: z.number().optional(),
  tmuxPaneId: Text.optional(),
  cwd: Text.optional(),
  subscriptions: z.array(z.unknown()).optional(),
  backendType: Text.optional(),
  /** Written by teammates in panes: true while a turn runs. */
  isActive: z.boolean().optional(),
  mode: Text.optional(),
});
export type NativeMember = z.output<typeof NativeMember>;

/** The lead's process, as newer versions record it. */
const LeadProcess = z.looseObject({ pid: z.number().int(), pidSpace: Text.optional(), procStart: Text.optional() });

/** A team: `name` in the full form, `teamName` in the simplified one. */
export const NativeConfig = z
  .looseObject({
    name: Text.optional(),
    teamName: Text.optional(),
    description: Text.optional(),
    createdAt: z.number().optional(),
    leadAgentId: Text.optional(),
    leadSessionId: Text.optional(),
    leadProcess: LeadProcess.optional(),
    members: z.array(NativeMember),
  })
  .refine((config) => config.name !== undefined || config.teamName !== undefined, 'has no name');
export type NativeConfig = z.output<typeof NativeConfig>;

/** A task file. An unknown status makes the whole file an unknown form. */
export const NativeTask = z.looseObject({
  id: Text.refine(isNativeTaskId),
  subject: Text,
  description: Text.optional(),
  activeForm: Text.optional(),
  owner: Text.optional(),
  status: z.enum(['pending', 'in_progress', 'completed', 'deleted']),
  blocks: z.array(Text).optional(),
  blockedBy: z.array(Text).optional(),
  metadata: z.record(Text, z.unknown()).optional(),
});
export type NativeTask = z.output<typeof NativeTask>;

/** An entry of an inbox. Other tools write `content` instead of `text`; we read it and never write it. */
export const NativeEntry = z
  .looseObject({
    from: Text,
    text: Text.optional(),
    content: Text.optional(),
    timestamp: Text,
    summary: Text.optional(),
    color: Text.optional(),
    read: z.boolean().optional(),
    msg_id: Text.optional(),
  })
  .refine((entry) => entry.text !== undefined || entry.content !== undefined, 'has no text');
export type NativeEntry = z.output<typeof NativeEntry>;

/** The name of a team in its own file. */
export function nameOf(config: NativeConfig): string {
  return config.name ?? config.teamName ?? '';
}

/** The text of an entry. */
export function textOfEntry(entry: NativeEntry): string {
  return entry.text ?? entry.content ?? '';
}

/**
 * Two generations of Claude Code, told apart by the team's files, not by a version. The older one marks a delivered
 * message as read. The newer one removes it from the inbox, records the lead's process and gives entries a type.
 */
export type Era = 'marks-read' | 'removes-read';

export function eraOf(config: NativeConfig | undefined, entries: Iterable<NativeEntry>): Era {
  if (config?.leadProcess !== undefined) return 'removes-read';
  for (const entry of entries) {
    if (entry.read === true) return 'marks-read';
    if (entry['type'] === 'message' && isForeignEntry(entry)) return 'removes-read';
  }
  return 'marks-read';
}

/** Written by Claude Code: our own entries carry `BRIDGE_MARK`. */
function isForeignEntry(entry: NativeEntry): boolean {
  return entry['via'] !== BRIDGE_MARK;
}

/** Marks the entries that we write. Both eras keep unknown fields. */
export const BRIDGE_MARK = 'troupe';

/** The order in which Claude Code writes the keys of a new task. */
const TASK_KEYS = ['id', 'subject', 'description', 'activeForm', 'owner', 'status', 'blocks', 'blockedBy', 'metadata'];

/** Sorts the keys of a new task into Claude Code's order. */
export function orderTask(task: NativeTask): NativeTask {
  const rank = (key: string): number => (TASK_KEYS.includes(key) ? TASK_KEYS.indexOf(key) : TASK_KEYS.length);
  const entries = Object.entries(task).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => rank(a) - rank(b))) as NativeTask;
}
