import { z } from 'zod';
import { Actor } from '../core/actor.ts';
import { AgentChoice, AgentSpec } from '../core/agent.ts';
import { Budget, Granted } from '../core/budget.ts';
import type { EventData, EventType } from '../core/event.ts';
import { HookConfig, HookType } from '../core/hook.ts';
import { BackendType, TeammateStatus } from '../core/member.ts';
import { MessagePriority, MessageType } from '../core/message.ts';
import { RaisedKind } from '../core/request.ts';
import { DependencyFailurePolicy, SharedTaskPriority } from '../core/task.ts';
import { TeammateMode, TeamStatus } from '../core/team.ts';
import { ContextUse, Usage } from '../core/usage.ts';

type Shapes = {
  readonly [T in EventType]: { readonly [K in keyof EventData[T]]-?: z.ZodType<EventData[T][K]> };
};

/**
 * The schema of every event, for the OpenAPI document. The journal checks its events by a checksum, not by these. A
 * field that is missing here, or has another type, does not compile.
 */
export function eventSchemas(): ReadonlyMap<EventType, z.ZodType> {
  const envelope = {
    at: z.number().int().describe('milliseconds since 1970'),
    by: Actor.describe('a member, @user or @system'),
    cause: z.string().optional().describe('the id of its command'),
    print: z.string().optional().describe("the command's fingerprint"),
  };
  return new Map(
    Object.entries(shapes()).map(([type, shape]) => [
      type as EventType,
      z.object({ type: z.literal(type), ...envelope, ...shape }),
    ]),
  );
}

function shapes(): Shapes {
  const [text, some, texts] = [z.string(), z.string().optional(), z.array(z.string())];
  const yes = z.boolean().optional();
  const count = z.number().int();
  const metadata = z.record(z.string(), z.unknown()).optional();
  const member = { memberId: text };
  const task = { taskId: text };
  const request = { requestId: text, ...member };
  const agents = AgentChoice.optional();
  const budget = Budget.optional();
  const granted = Granted.optional();
  return {
    'team:created': {
      name: text,
      description: text,
      leadId: text,
      leadSessionId: text,
      teammateMode: TeammateMode,
      resolvedBackend: BackendType,
      maxTeammates: count,
      messagesPerMinute: count.optional(),
      delegateMode: z.boolean(),
      agents,
      budget,
      metadata,
    },
    'team:updated': {
      description: some,
      leadId: some,
      leadSessionId: some,
      maxTeammates: count.optional(),
      messagesPerMinute: count.optional(),
      delegateMode: yes,
      agents,
      budget,
      granted,
      status: TeamStatus.optional(),
      metadata,
    },
    'team:closed': {},
    'hook:registered': { hook: HookConfig },
    'hook:removed': { hookType: HookType },
    'teammate:joined': {
      ...member,
      sessionId: text,
      role: text,
      agentType: text,
      status: TeammateStatus,
      spawnPrompt: some,
      planApprovalRequired: z.boolean(),
      model: some,
      color: some,
      cwd: some,
      backendType: BackendType,
      agent: AgentSpec.optional(),
      host: some,
      labels: texts.optional(),
      budget,
      metadata,
    },
    'teammate:changed': {
      ...member,
      status: TeammateStatus.optional(),
      sessionId: some,
      role: some,
      model: some,
      color: some,
      cwd: some,
      backendType: BackendType.optional(),
      budget,
      granted,
      metadata,
    },
    'teammate:placed': { ...member, hostId: text },
    'teammate:idle': { ...member, reason: some, result: some },
    'teammate:stopped': { ...member, reason: some, returning: yes },
    'task:created': {
      ...task,
      title: text,
      description: text,
      activeForm: some,
      priority: SharedTaskPriority,
      assigneeId: some,
      dependencies: texts,
      onDependencyFailure: DependencyFailurePolicy,
      metadata,
      unjudged: z.literal(true).optional(),
    },
    'task:updated': {
      ...task,
      title: some,
      description: some,
      activeForm: some,
      priority: SharedTaskPriority.optional(),
      onDependencyFailure: DependencyFailurePolicy.optional(),
      metadata,
      unjudged: z.literal(false).optional(),
      withheld: text.nullable().optional(),
    },
    'task:assigned': { ...task, assigneeId: text.nullable(), epoch: count },
    'task:claimed': { ...task, ...member, epoch: count },
    'task:released': { ...task, ...member, epoch: count, reason: some },
    'task:rejected': { ...task, memberId: some, feedback: text, gate: some },
    'task:completed': { ...task, memberId: some, result: some },
    'task:failed': { ...task, memberId: some, reason: text },
    'task:reopened': { ...task, epoch: count, reason: some },
    'task:deleted': { ...task, epoch: count },
    'task:unblocked': task,
    'task:dependencies-added': { ...task, dependencies: texts },
    'task:dependencies-removed': { ...task, dependencies: texts },
    'message:sent': {
      copies: z.array(z.object({ id: text, toId: text })),
      messageType: MessageType,
      content: text,
      summary: some,
      priority: MessagePriority,
      broadcastId: some,
      metadata,
    },
    'message:delivered': { ...member, messageIds: texts, sessionId: text, redelivery: yes },
    'message:acknowledged': { ...member, messageIds: texts },
    'message:read': { ...member, messageIds: texts },
    'shutdown:requested': { ...request, reason: text },
    'shutdown:approved': { ...request, feedback: some },
    'shutdown:rejected': { ...request, feedback: text },
    'plan:submitted': { ...request, content: text, filePath: some },
    'plan:approved': { ...request, feedback: some },
    'plan:rejected': { ...request, feedback: text },
    'request:raised': {
      ...request,
      kind: RaisedKind,
      taskId: some,
      content: text,
      deadline: count.optional(),
      detail: metadata,
    },
    'request:answered': { ...request, approved: z.boolean(), feedback: some },
    'note:added': { noteId: text, text, tags: texts },
    'note:updated': { noteId: text, text: some, tags: texts.optional() },
    'note:removed': { noteId: text },
    'usage:recorded': { ...member, taskId: some, usage: Usage, context: ContextUse.optional() },
  };
}
