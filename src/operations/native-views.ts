import { z } from 'zod';
import type { Joined } from '../bridge/bridge.ts';
import { nameOf, textOfEntry } from '../bridge/format.ts';
import type { NativeMember, NativeTask } from '../bridge/format.ts';
import { NATIVE_LEAD } from '../bridge/layout.ts';
import type { Leftover } from '../bridge/leftovers.ts';
import { leadEnded } from '../bridge/mirror/presence/lead.ts';
import type { Preview } from '../bridge/preview.ts';
import type { NativeTeam } from '../bridge/snapshot.ts';
import { StoredTaskStatus } from '../core/task.ts';
import { Timestamp } from '../core/time.ts';

/** A native team in one line of a list. */
export const NativeSummary = z.object({
  name: z.string().describe('the name of its directory'),
  kind: z.enum(['team', 'session']).describe('a session without a team has only tasks'),
  form: z.enum(['known', 'unknown', 'unreadable', 'no-config']).describe('a team of an unknown form is read-only'),
  readOnly: z.string().optional().describe('why it is read-only and cannot be joined'),
  title: z.string(),
  description: z.string().optional(),
  lead: z.string().optional(),
  members: z.array(
    z.object({
      name: z.string(),
      agentType: z.string().optional(),
      model: z.string().optional(),
      color: z.string().optional(),
      backendType: z.string().optional(),
      active: z.boolean().optional(),
      cwd: z.string().optional(),
      unread: z.number().int(),
      currentTask: z.string().optional().describe('the subject of the task that it works on'),
    }),
  ),
  tasks: z.array(
    z.object({
      id: z.string(),
      subject: z.string(),
      status: z.string(),
      owner: z.string().optional(),
      blockedBy: z.array(z.string()),
      activeForm: z.string().optional(),
    }),
  ),
  messages: z.number().int().describe('in all inboxes, including read messages that are kept'),
  problems: z.array(z.string()),
  changedAt: Timestamp.optional().describe('missing if the team cannot be read'),
});
export type NativeSummary = z.output<typeof NativeSummary>;

/** An entry of a native inbox. */
export const NativeMessage = z.object({
  from: z.string(),
  to: z.string(),
  text: z.string(),
  summary: z.string().optional(),
  sentAt: z.string(),
  read: z.boolean(),
});

/** A native team, and whether it is abandoned. */
export const LeftTeam = z.object({
  name: z.string(),
  kind: z.enum(['team', 'session']),
  dead: z.boolean(),
  evidence: z.array(z.string()),
  changedAt: Timestamp.optional().describe('missing if the team cannot be read'),
  tasks: z.number().int(),
  members: z.number().int(),
});

/** A team that is synchronized with a native one. */
export const JoinedTeam = z.object({
  teamId: z.string(),
  native: z.string().describe('the name of the native team'),
  notices: z.array(z.string()).describe('notices for people: refusals, overwrites, files that are not read'),
});

const Standing = z.object({ status: StoredTaskStatus, assigneeId: z.string().optional() });

/** What a join would change. */
export const JoinPreview = z.object({
  native: z.string().describe('the name of the native team'),
  teamId: z.string().describe('the name of the team here'),
  isNew: z.boolean().describe('whether the team here would be created'),
  files: z
    .array(z.object({ path: z.string(), changes: z.array(z.string()) }))
    .describe('native files that would be written'),
  members: z.array(z.string()).describe('native members that would join the team here'),
  tasks: z
    .array(Standing.extend({ id: z.string(), title: z.string(), before: Standing.optional() }))
    .describe('tasks that would be new here, or would have another status or holder'),
  messages: z.number().int().describe('messages that the team here would get'),
  notices: z.array(z.string()),
});

/** A preview as operations return it. */
export function viewPreview({ files, members, tasks, notices, ...rest }: Preview): z.output<typeof JoinPreview> {
  return {
    ...rest,
    files: files.map(({ path, changes }) => ({ path, changes: [...changes] })),
    members: [...members],
    tasks: [...tasks],
    notices: [...notices],
  };
}

/** A joined team as operations return it. */
export function viewJoined({ teamId, native, notices }: Joined): z.output<typeof JoinedTeam> {
  return { teamId, native, notices: [...notices] };
}

/** A native team without its mail. */
export function summarize(team: NativeTeam): NativeSummary {
  const { config, inboxes } = team;
  const unread = (member: string): number => (inboxes.get(member) ?? []).filter((entry) => entry.read !== true).length;
  const members = config?.members ?? [];
  const lead = members.find(({ agentId, name }) => agentId !== undefined && agentId === config?.leadAgentId && name);
  return {
    name: team.name,
    kind: team.kind,
    form: team.form,
    readOnly: team.readOnly,
    title: config ? nameOf(config) : team.name,
    description: config?.description,
    lead: lead?.name ?? (members.some(({ name }) => name === NATIVE_LEAD) ? NATIVE_LEAD : undefined),
    members: members.map((member) => ({
      name: member.name,
      agentType: member.agentType,
      model: member.model,
      color: member.color,
      backendType: member.backendType,
      active: member.isActive,
      cwd: member.cwd,
      unread: unread(member.name),
      currentTask: taskOf(team, member)?.subject,
    })),
    tasks: [...team.tasks.values()]
      // Such a task only represents a running teammate; Claude Code hides it too.
      .filter(({ metadata }) => metadata?.['_internal'] !== true)
      .map(({ id, subject, status, owner, blockedBy = [], activeForm }) => ({
        id,
        subject,
        status,
        owner,
        blockedBy,
        activeForm,
      })),
    messages: [...inboxes.values()].reduce((sum, entries) => sum + entries.length, 0),
    problems: [...team.problems, ...troubleOf(team)],
    changedAt: momentOf(team.changedAt),
  };
}

/** The task that a member of a native team works on. Its owner may be a name or an agent's id. */
export function taskOf({ name, tasks }: NativeTeam, member: NativeMember): NativeTask | undefined {
  const owners = [member.name, member.agentId ?? `${member.name}@${name}`];
  return [...tasks.values()].find(
    ({ status, owner = '', metadata }) =>
      status === 'in_progress' && owners.includes(owner) && metadata?.['_internal'] !== true,
  );
}

/** All mail in its inboxes. Each inbox keeps its own order, whatever the senders' clocks; time only merges them. */
export function mailOf({ inboxes }: NativeTeam): z.output<typeof NativeMessage>[] {
  return [...inboxes]
    .flatMap(([to, entries]) => {
      let latest = '';
      return entries.map((entry) => {
        if (entry.timestamp > latest) latest = entry.timestamp;
        return { to, entry, latest };
      });
    })
    .sort((a, b) => (a.latest === b.latest ? 0 : a.latest < b.latest ? -1 : 1))
    .map(({ to, entry }) => ({
      from: entry.from,
      to,
      text: textOfEntry(entry),
      summary: entry.summary,
      sentAt: entry.timestamp,
      read: entry.read === true,
    }));
}

/** A team with the evidence for or against its being abandoned. */
export function viewLeftover({ evidence, changedAt, ...rest }: Leftover): z.output<typeof LeftTeam> {
  return { ...rest, evidence: [...evidence], changedAt: momentOf(changedAt) };
}

/** 0 means unknown. */
function momentOf(at: number): Date | undefined {
  return at === 0 ? undefined : new Date(at);
}

/** Trouble that the files themselves do not mention. */
function troubleOf(team: NativeTeam): string[] {
  const ended = leadEnded(team);
  return ended === undefined
    ? []
    : [`${ended}; "troupe native clean ${team.name}" moves it to the trash after an hour without changes`];
}
