import type { Command, CommandOf } from '../../../src/core/command.ts';
import type { ErrorCode } from '../../../src/core/errors.ts';
import { ACCOUNT_RULES, isAskedAbout, stoppedBy, useAgain } from './account.ts';
import { followVerdict, replaceReviewer } from './approval.ts';
import {
  ask,
  change,
  needActor,
  needLive,
  needManager,
  needOpenTeam,
  needPerson,
  pendingGate,
  refused,
  unusedId,
} from './guard.ts';
import type { Attempt, Rules } from './guard.ts';
import { isWaiting, LANDING_RULES, leave, needLanding, withdraw } from './landing.ts';
import { askPerson, isAnswer, passOn } from './question.ts';
import { giveBack, isBlocked, needTask, release, reserve, TASK_RULES, touch } from './task.ts';
import { TIP_RULES } from './tip.ts';
import { WORK_RULES } from './work.ts';
import { isExpected, TEAM } from './world.ts';
import type { Member, Note, Request, Task, World } from './world.ts';

/** The outcome of a command: its facts, or every code with which it may be refused. */
export type Outcome = { facts: string[] } | { codes: ErrorCode[] };

/** Executes a command on the world. A refused command changes nothing. */
export function doCommand(world: World, command: Command): Outcome {
  const { commandId } = command;
  const earlier = world.receipts.find((receipt) => receipt.commandId === commandId);
  const says = whatItSays(command);
  if (earlier) return earlier.by === command.by && earlier.says === says ? { facts: [] } : { codes: ['conflict'] };

  const attempt: Attempt = { codes: [], facts: [] };
  const blocked = world.tasks.filter((task) => isBlocked(world, task));
  const held = world.tasks.filter(({ status }) => status === 'in_progress');
  const before = new Map(world.tasks.map(({ id, status }) => [id, status]));
  const rule = RULES[command.type] as (world: World, command: Command, attempt: Attempt) => void;
  rule(world, command, attempt);
  if (attempt.codes.length > 0) return { codes: attempt.codes };
  for (const { id } of held.filter(({ status }) => status !== 'in_progress')) {
    const about = world.requests.filter(({ kind, taskId }) => (kind === 'gate' || kind === 'budget') && taskId === id);
    for (const request of about) if (request.status === 'pending') request.status = 'withdrawn';
  }
  const over = world.tasks.filter((task) => isEnded(task) && before.get(task.id) !== task.status).map(({ id }) => id);
  for (const request of world.requests) {
    const isOver = request.kind === 'question' && over.includes(request.taskId ?? '');
    if (isOver && request.status === 'pending') request.status = 'withdrawn';
  }
  for (const task of blocked) {
    if (task.status === 'pending' && !isBlocked(world, task)) attempt.facts.push(`task:unblocked ${task.id}`);
  }
  if (commandId !== undefined && attempt.facts.length > 0) world.receipts.push({ commandId, by: command.by, says });
  return { facts: attempt.facts };
}

function isEnded({ status }: Task): boolean {
  return status === 'completed' || status === 'failed' || status === 'deleted';
}

function whatItSays(command: Command): string {
  const { at: _at, by: _by, commandId: _id, ...rest } = command;
  // What Troupe hands in may differ the next time.
  return JSON.stringify({ ...rest, epoch: undefined, revision: undefined, work: undefined, accepted: undefined });
}

const COLORS = ['blue', 'green', 'yellow', 'purple', 'orange', 'pink', 'cyan', 'red'];

const RULES: Rules = {
  'team.create'(world, command, attempt) {
    if (world.team) attempt.codes.push('exists');
    if (command.name !== TEAM) attempt.codes.push('invalid');
    if (refused(attempt)) return;
    world.team = {
      description: command.description,
      leadId: command.leadName,
      leadSessionId: command.leadSessionId,
      maxTeammates: command.maxTeammates,
      messagesPerMinute: command.messagesPerMinute,
      peers: command.peers,
      delegateMode: command.delegateMode,
      createdAt: command.at,
      status: 'active',
      hooks: [],
      work: command.work && { ...command.work, tip: command.work.base },
      metadata: command.metadata,
    };
    world.members.push({
      id: command.leadName,
      sessionId: command.leadSessionId,
      role: 'lead',
      agentType: command.leadAgentType,
      status: 'active',
      statusSince: command.at,
      planApprovalRequired: false,
      planApproved: false,
      backendType: 'in-process',
      joinedAt: command.at,
    });
    attempt.facts.push('team:created', `teammate:joined ${command.leadName}`);
  },

  'team.update'(world, command, attempt) {
    const team = needOpenTeam(world, attempt);
    needManager(world, command.by, attempt);
    if (command.leadId !== undefined) needLive(world, command.leadId, attempt);
    if (command.onLimit || command.peers) needPerson(command.by, attempt);
    if (command.peers?.includes(TEAM)) attempt.codes.push('invalid');
    const raises = team && (command.maxTeammates ?? 0) > team.maxTeammates;
    const isLet = team?.delegateMode && command.delegateMode === false;
    if ((raises || isLet) && !command.by.startsWith('@')) attempt.codes.push('not_allowed');
    const { base, branch } = command.work ?? {};
    const has = team?.work;
    if (command.work && has && (has.base !== base || has.branch !== branch)) attempt.codes.push('conflict');
    if (refused(attempt) || !team) return;
    const { type: _type, at: _at, by: _by, commandId: _id, metadata, work, ...changes } = command;
    // What waits to land still does, onto the same tip.
    const { tip = work?.base ?? '', queue, landing, queueHost, ended, rewritten, lost } = team.work ?? {};
    if (work) team.work = { ...work, tip, queue, landing, queueHost, ended, rewritten, lost };
    change(team, changes, metadata);
    attempt.facts.push('team:updated');
  },

  'team.close'(world, command, attempt) {
    const team = needOpenTeam(world, attempt);
    needManager(world, command.by, attempt);
    const staying = world.members.filter((member) => isExpected(member));
    if (!command.force && staying.some(({ id }) => id !== team?.leadId)) attempt.codes.push('conflict');
    if (refused(attempt) || !team) return;
    const end = { at: command.at, reason: 'team closed' };
    for (const member of staying) stop(world, member, end, attempt, { isLast: true });
    for (const task of world.tasks.filter(({ status }) => status === 'in_progress')) {
      withdraw(world, task, { at: command.at, why: end.reason }, attempt);
      giveBack(world, task, command.at, attempt);
    }
    for (const request of world.requests) if (request.status === 'pending') request.status = 'withdrawn';
    team.status = 'cleaned-up';
    team.closedAt = command.at;
    attempt.facts.push('team:closed');
  },

  'member.join'(world, command, attempt) {
    const team = needOpenTeam(world, attempt);
    needManager(world, command.by, attempt);
    const before = world.members.find(({ id }) => id === command.name);
    if (before && before.status !== 'stopped') attempt.codes.push('exists');
    const isLetIn = command.workspace === 'shared' && team?.work && before?.workspace !== 'shared';
    if (isLetIn) needPerson(command.by, attempt);
    const others = world.members.filter(({ id }) => id !== team?.leadId && id !== command.name);
    if (team && command.name !== team.leadId && others.filter(isExpected).length >= team.maxTeammates) {
      attempt.codes.push('limit');
    }
    const recent = world.spawns.filter(({ by, at }) => by === command.by && command.at - at < 60_000);
    if (command.agent && !command.by.startsWith('@') && recent.length >= 10) attempt.codes.push('limit');
    if (refused(attempt) || !team) return;
    if (command.agent) world.spawns.push({ by: command.by, at: command.at });
    const newColor = command.name === team.leadId ? undefined : COLORS[(world.members.length - 1) % COLORS.length];
    const member: Member = {
      id: command.name,
      sessionId: command.sessionId,
      role: command.role,
      agentType: command.agentType,
      status: command.status,
      statusSince: command.at,
      spawnPrompt: command.prompt === '' ? undefined : command.prompt,
      planApprovalRequired: command.planApprovalRequired,
      planApproved: false,
      model: command.model,
      color: command.color ?? before?.color ?? newColor,
      cwd: command.cwd,
      // In these runs nobody names a folder.
      workspace: team.work && command.agent ? (command.workspace ?? 'own') : undefined,
      backendType: command.backendType,
      agent: command.agent,
      onLimit: command.onLimit,
      joinedAt: command.at,
      metadata: command.metadata,
    };
    if (before) world.members[world.members.indexOf(before)] = member;
    else world.members.push(member);
    for (const request of pendingRequests(world, member.id, 'restart')) request.status = 'withdrawn';
    attempt.facts.push(`teammate:joined ${member.id}`);
  },

  'member.change'(world, command, attempt) {
    needOpenTeam(world, attempt);
    needManager(world, command.by, attempt, command.memberId);
    const member = needLive(world, command.memberId, attempt);
    const goesOn = command.status !== undefined && command.status !== 'shutting-down';
    if (member?.status === 'shutting-down' && goesOn) needManager(world, command.by, attempt);
    const { onLimit } = command;
    if (onLimit && JSON.stringify(onLimit) !== JSON.stringify(member?.onLimit)) needPerson(command.by, attempt);
    if (refused(attempt) || !member) return;
    const { type: _type, at, by: _by, commandId: _id, memberId: _member, result, reason: _reason, ...rest } = command;
    const { status, metadata, ...changes } = rest;
    const isNew = status !== undefined && status !== member.status;
    if (isNew && status === 'idle') {
      change(member, { status, statusSince: at, lastResult: result });
      attempt.facts.push(`teammate:idle ${member.id}`);
    }
    const isOther = isNew && status !== 'idle';
    if (!isOther && metadata === undefined && Object.values(changes).every((value) => value === undefined)) return;
    if (isOther) change(member, { status, statusSince: at });
    change(member, changes, metadata);
    attempt.facts.push(`teammate:changed ${member.id}`);
  },

  'member.leave'(world, command, attempt) {
    needOpenTeam(world, attempt);
    needManager(world, command.by, attempt, command.memberId);
    const member = world.members.find(({ id }) => id === command.memberId);
    const isGivenUp = member?.returning === true && !command.returning;
    if (!isGivenUp) needLive(world, command.memberId, attempt);
    if (refused(attempt) || !member) return;
    stop(world, member, command, attempt);
  },

  'member.place'(world, command, attempt) {
    needOpenTeam(world, attempt);
    if (command.by !== '@system') attempt.codes.push('not_allowed');
    const member = needLive(world, command.memberId, attempt);
    if (member && (member.hostId ?? command.hostId) !== command.hostId) attempt.codes.push('claim_conflict');
    if (refused(attempt) || !member) return;
    // A new process knows of no task, except those about which a person decides.
    const held = world.tasks.filter(({ status, assigneeId }) => status === 'in_progress' && assigneeId === member.id);
    const isDecided = (task: Task) => pendingGate(world, task.id) !== undefined;
    for (const task of held) {
      if (isDecided(task)) continue;
      if (isWaiting(task)) leave(task, command.at, attempt);
      else release(task, command.at, attempt);
    }
    if (member.hostId === command.hostId) return;
    member.hostId = command.hostId;
    attempt.facts.push(`teammate:placed ${member.id}`);
  },

  ...TASK_RULES,
  ...WORK_RULES,
  ...LANDING_RULES,
  ...TIP_RULES,

  'message.send'(world, command, attempt) {
    needOpenTeam(world, attempt);
    needActor(world, command.by, attempt);
    const first = world.messages.find(({ id }) => id === command.messageId);
    if (first) {
      const isSame = first.fromId === command.by && first.toId === command.toId && first.content === command.content;
      if (!isSame) attempt.codes.push('conflict');
      return;
    }
    if (command.messageType !== 'direct' && command.by !== '@system') attempt.codes.push('not_allowed');
    needMailbox(world, command.toId, attempt);
    needPatience(world, command, attempt);
    if (refused(attempt)) return;
    world.messages.push({
      id: command.messageId,
      fromId: command.by,
      toId: command.toId,
      type: command.messageType,
      content: command.content,
      summary: command.summary,
      priority: command.priority,
      sentAt: command.at,
      redeliveries: 0,
      metadata: command.metadata,
    });
    attempt.facts.push(`message:sent ${command.messageId}`);
  },

  'message.receive'(world, command, attempt) {
    const team = needOpenTeam(world, attempt);
    const toId = command.toId === 'lead' ? (team?.leadId ?? 'lead') : command.toId;
    const first = world.messages.find(({ id }) => id === command.messageId);
    const sender = command.by.split('@')[1] ?? '';
    if (first) {
      const isSame = first.fromId === command.by && first.toId === toId && first.content === command.content;
      if (first.fromId !== command.by && !team?.peers?.includes(sender)) attempt.codes.push('not_allowed');
      if (!isSame) attempt.codes.push('conflict');
      if (!world.members.some(({ id }) => id === toId)) attempt.codes.push('not_found');
      return;
    }
    if (!team?.peers?.includes(sender) || command.priority === 'urgent') attempt.codes.push('not_allowed');
    if (toId !== team?.leadId) needMailbox(world, toId, attempt);
    needPeerPatience(world, { sender, at: command.at }, attempt);
    if (refused(attempt)) return;
    world.messages.push({
      id: command.messageId,
      fromId: command.by,
      toId,
      type: 'direct',
      content: command.content,
      summary: command.summary,
      priority: 'normal',
      sentAt: command.at,
      redeliveries: 0,
      metadata: command.metadata,
    });
    attempt.facts.push(`message:sent ${command.messageId}`);
  },

  'message.broadcast'(world, command, attempt) {
    needOpenTeam(world, attempt);
    needActor(world, command.by, attempt);
    const first = world.messages.find(({ broadcastId }) => broadcastId === command.messageId);
    if (first) {
      if (first.fromId !== command.by || first.content !== command.content) attempt.codes.push('conflict');
      return;
    }
    const recipients = world.members.filter((member) => member.id !== command.by && isExpected(member));
    if (recipients.length > 0) needPatience(world, command, attempt);
    if (refused(attempt)) return;
    for (const { id: toId } of recipients) {
      world.messages.push({
        id: `${command.messageId}/${toId}`,
        fromId: command.by,
        toId,
        type: 'broadcast',
        content: command.content,
        summary: command.summary,
        priority: command.priority,
        sentAt: command.at,
        redeliveries: 0,
        broadcastId: command.messageId,
        metadata: command.metadata,
      });
    }
    if (recipients.length > 0) {
      attempt.facts.push(`message:sent ${recipients.map(({ id }) => `${command.messageId}/${id}`).join(' ')}`);
    }
  },

  'message.deliver'(world, command, attempt) {
    const messages = needMessages(world, command, attempt);
    if (refused(attempt)) return;
    const waiting = messages.filter(
      ({ acknowledgedAt, readAt }) => acknowledgedAt === undefined && readAt === undefined,
    );
    const fresh = waiting.filter(({ deliveredAt }) => deliveredAt === undefined);
    const present = world.members.find(({ id }) => id === command.memberId)?.sessionId;
    const again = waiting.filter(
      (message) =>
        !fresh.includes(message) &&
        (command.redelivery || message.sessionId !== command.sessionId) &&
        (present === 'none' || message.sessionId !== present || command.sessionId === present) &&
        !message.formerSessions?.includes(command.sessionId),
    );
    for (const message of fresh) message.deliveredAt = command.at;
    for (const message of again) message.redeliveries++;
    for (const message of again) {
      if (message.sessionId === undefined || message.sessionId === command.sessionId) continue;
      message.formerSessions = [...(message.formerSessions ?? []), message.sessionId];
    }
    for (const message of [...fresh, ...again]) message.sessionId = command.sessionId;
    if (fresh.length > 0) attempt.facts.push(`message:delivered ${names(fresh)}`);
    if (again.length > 0) attempt.facts.push(`message:delivered ${names(again)} again`);
  },

  'message.acknowledge'(world, command, attempt) {
    const messages = needMessages(world, command, attempt).filter((message) => message.acknowledgedAt === undefined);
    if (refused(attempt) || messages.length === 0) return;
    for (const message of messages) {
      message.deliveredAt ??= command.at;
      message.acknowledgedAt = command.at;
    }
    attempt.facts.push(`message:acknowledged ${names(messages)}`);
  },

  'message.read'(world, command, attempt) {
    const messages = needMessages(world, command, attempt).filter((message) => message.readAt === undefined);
    if (refused(attempt) || messages.length === 0) return;
    for (const message of messages) {
      message.deliveredAt ??= command.at;
      message.readAt = command.at;
    }
    attempt.facts.push(`message:read ${names(messages)}`);
  },

  'shutdown.request'(world, command, attempt) {
    needOpenTeam(world, attempt);
    needManager(world, command.by, attempt, command.memberId);
    const member = needLive(world, command.memberId, attempt);
    if (refused(attempt) || !member) return;
    if (pendingRequests(world, member.id, 'shutdown').length > 0) return;
    const id = unusedId(world, command.at, (at) => `shutdown-${at}@${member.id}`);
    const deadline = command.within === undefined ? undefined : command.at + command.within;
    ask(world, { id, kind: 'shutdown', memberId: member.id, content: command.reason, deadline }, command);
    attempt.facts.push(`shutdown:requested ${id}`);
  },

  'shutdown.approve'(world, command, attempt) {
    const request = needOwnShutdown(world, command, attempt);
    if (!request) return;
    answer(request, command, 'approved');
    const member = world.members.find(({ id }) => id === request.memberId);
    if (member) change(member, { status: 'shutting-down', statusSince: command.at });
    attempt.facts.push(`shutdown:approved ${request.id}`);
  },

  'shutdown.reject'(world, command, attempt) {
    const request = needOwnShutdown(world, command, attempt);
    if (!request) return;
    answer(request, command, 'rejected');
    attempt.facts.push(`shutdown:rejected ${request.id}`);
  },

  'plan.submit'(world, command, attempt) {
    needOpenTeam(world, attempt);
    const member = needLive(world, command.by, attempt);
    if (refused(attempt) || !member) return;
    for (const older of pendingRequests(world, member.id, 'plan')) older.status = 'withdrawn';
    const id = unusedId(world, command.at, (at) => `plan_approval-${at}@${member.id}@${TEAM}`);
    const { content, filePath } = command;
    ask(world, { id, kind: 'plan', memberId: member.id, content, filePath }, command);
    attempt.facts.push(`plan:submitted ${id}`);
  },

  'plan.approve'(world, command, attempt) {
    const request = needForeignPlan(world, command, attempt);
    if (!request) return;
    answer(request, command, 'approved');
    const member = world.members.find(({ id }) => id === request.memberId);
    if (member) member.planApproved = true;
    attempt.facts.push(`plan:approved ${request.id}`);
  },

  'plan.reject'(world, command, attempt) {
    const request = needForeignPlan(world, command, attempt);
    if (!request) return;
    answer(request, command, 'rejected');
    attempt.facts.push(`plan:rejected ${request.id}`);
  },

  'request.raise'(world, command, attempt) {
    needOpenTeam(world, attempt);
    const { kind, memberId, taskId, content, within, detail, at } = command;
    if (command.by !== '@system' && ['gate', 'budget', 'restart', 'account'].includes(kind)) {
      attempt.codes.push('not_allowed');
    }
    if (kind === 'question') return askPerson(world, command, attempt);
    const isRestart = kind === 'restart';
    if (command.by !== memberId && command.by !== '@system') attempt.codes.push('not_allowed');
    if (isRestart) {
      const member = world.members.find(({ id }) => id === memberId);
      if (!member) attempt.codes.push('not_found');
      else if (isExpected(member)) attempt.codes.push('conflict');
    } else {
      needLive(world, memberId, attempt);
      if (taskId !== undefined) needTask(world, taskId, attempt);
    }
    if (refused(attempt)) return;
    if (isRestart && pendingRequests(world, memberId, kind).length > 0) return;
    if (kind === 'gate' && taskId !== undefined && pendingGate(world, taskId)) return;
    // No request of the model names a limit, so that none is due.
    if (kind === 'budget') return;
    if (kind === 'account' && isAskedAbout(world, detail?.['account'])) return;
    const id = unusedId(world, at, (tick) => `${kind}-${tick}@${memberId}`);
    const deadline = at + (within ?? (kind === 'permission' ? 600_000 : 24 * 3_600_000));
    const about = isRestart ? undefined : taskId;
    const question = command.by === '@system' && !isRestart ? command.question : undefined;
    ask(world, { id, kind, memberId, content, taskId: about, deadline, detail, question }, command);
    attempt.facts.push(`request:raised ${id}`);
  },

  'request.answer'(world, command, attempt) {
    needOpenTeam(world, attempt);
    const request = world.requests.find(({ id }) => id === command.requestId);
    needPerson(command.by, attempt);
    if (!request || request.kind === 'plan' || request.kind === 'shutdown') attempt.codes.push('not_found');
    else if (request.status !== 'pending') attempt.codes.push('conflict');
    if (command.revision !== undefined) attempt.codes.push('stale_revision');
    const task = world.tasks.find(({ id }) => id === request?.taskId);
    const { by, approve } = command;
    if (request && !isAnswer(request, command)) attempt.codes.push('invalid');
    const isSettled = request && task && settles(request, task);
    if (isSettled && approve) needLanding(world, task, { by }, attempt);
    if (refused(attempt) || !request) return;
    answer(request, command, approve ? 'approved' : 'rejected');
    request.choice = approve ? command.choice : request.question?.fallback;
    request.grants = command.grants;
    const isAnew =
      request.kind === 'gate' || (by === '@user' && (request.kind === 'work' || request.kind === 'review'));
    if (isAnew && !approve && task) {
      const said = command.feedback === undefined ? {} : { feedback: command.feedback };
      touch(task, command.at, { rejections: 0, ...said });
    }
    attempt.facts.push(`request:answered ${request.id}`);
    if (isSettled) settle(world, command, { request, task }, attempt);
    if (request.kind === 'account' && request.question) {
      const reason = 'stopped by a person: the limit of its account is reached';
      for (const member of stoppedBy(world, request)) stop(world, member, { at: command.at, reason }, attempt);
    } else if (request.kind === 'account' && approve) useAgain(world, command, request, attempt);
    if (request.kind === 'question') passOn(world, command, request, attempt);
    if (task && (request.kind === 'work' || request.kind === 'review')) {
      followVerdict(world, task, { request, answer: command }, attempt);
    }
  },

  'note.add'(world, command, attempt) {
    needOpenTeam(world, attempt);
    needActor(world, command.by, attempt);
    if (refused(attempt)) return;
    const { by, at, text, tags } = command;
    const id = String(++world.notesEver);
    world.notes.push({ id, authorId: by, text, tags, createdAt: at, updatedAt: at, revision: 1 });
    attempt.facts.push(`note:added ${id}`);
  },

  'note.update'(world, command, attempt) {
    const note = needOwnNote(world, command, attempt);
    const { at, text = note?.text, tags = note?.tags, revision = note?.revision } = command;
    if (note && revision !== note.revision) attempt.codes.push('stale_revision');
    if (refused(attempt) || !note) return;
    Object.assign(note, { text, tags, updatedAt: at, revision: note.revision + 1 });
    attempt.facts.push(`note:updated ${note.id}`);
  },

  'note.remove'(world, command, attempt) {
    const note = needOwnNote(world, command, attempt);
    if (refused(attempt) || !note) return;
    world.notes.splice(world.notes.indexOf(note), 1);
    attempt.facts.push(`note:removed ${note.id}`);
  },

  'hook.register'(world, command, attempt) {
    const team = needOpenTeam(world, attempt);
    needPerson(command.by, attempt);
    if (team && team.hooks.length === 32) attempt.codes.push('limit');
    if (refused(attempt) || !team) return;
    team.hooks.push(command.hook);
    attempt.facts.push('hook:registered');
  },

  'hook.remove'(world, command, attempt) {
    const team = needOpenTeam(world, attempt);
    needPerson(command.by, attempt);
    if (refused(attempt) || !team) return;
    const kept = team.hooks.filter(({ type }) => type !== command.hookType);
    if (kept.length === team.hooks.length) return;
    team.hooks = kept;
    attempt.facts.push('hook:removed');
  },

  'usage.record'(world, command, attempt) {
    if (!world.team) attempt.codes.push('not_found');
    if (command.by !== '@system' && command.by !== command.memberId) {
      needOpenTeam(world, attempt);
      needManager(world, command.by, attempt);
    }
    if (!world.members.some(({ id }) => id === command.memberId)) attempt.codes.push('not_found');
    if (command.taskId !== undefined) needTask(world, command.taskId, attempt, { deleted: true });
    if (refused(attempt)) return;
    world.usages.push({ memberId: command.memberId, taskId: command.taskId, usage: command.usage });
    for (const request of pendingRequests(world, command.memberId, 'hang')) request.status = 'withdrawn';
    attempt.facts.push(`usage:recorded ${command.memberId}`);
  },
  ...ACCOUNT_RULES,
};

/** Whether the answer settles the task: not if the holder has begun again since. */
function settles({ kind, memberId, detail }: Request, { status, assigneeId, epoch }: Task): boolean {
  const { epoch: asked = epoch } = detail ?? {};
  return kind === 'gate' && status === 'in_progress' && assigneeId === memberId && epoch === asked;
}

function settle(
  world: World,
  { at, by, commandId, approve }: CommandOf<'request.answer'>,
  { request, task }: { request: Request; task: Task },
  attempt: Attempt,
): void {
  const { result } = request.detail ?? {};
  const about = { at, by, commandId, taskId: task.id };
  if (approve) {
    const said = typeof result === 'string' ? { result } : {};
    RULES['task.complete'](world, { type: 'task.complete', ...about, ...said }, attempt);
  } else if (by === '@user') RULES['task.release'](world, { type: 'task.release', ...about }, attempt);
  else {
    const reason = `${request.content}\nNobody looked at it in time.`;
    RULES['task.fail'](world, { type: 'task.fail', ...about, reason }, attempt);
  }
}

function needOwnNote(world: World, command: { by: string; noteId: string }, attempt: Attempt): Note | undefined {
  needOpenTeam(world, attempt);
  const note = world.notes.find(({ id }) => id === command.noteId);
  if (!note) attempt.codes.push('not_found');
  needManager(world, command.by, attempt, note?.authorId);
  return note;
}

/** A rate limit: a token bucket that holds a third of a minute's messages. */
function needPatience(world: World, { by, at }: { by: string; at: number }, attempt: Attempt): void {
  const perMinute = world.team?.messagesPerMinute ?? 30;
  if (by.startsWith('@')) return;
  const sends = new Map(
    world.messages.filter(({ fromId }) => fromId === by).map((one) => [one.broadcastId ?? one.id, one.sentAt]),
  );
  const size = perMinute / 3;
  let left = size;
  let last = 0;
  for (const sentAt of sends.values()) {
    left = Math.min(size, left + ((sentAt - last) * perMinute) / 60_000) - 1;
    last = sentAt;
  }
  if (left + ((at - last) * perMinute) / 60_000 < 1) attempt.codes.push('limit');
}

/** The same for all members of another team together: twenty messages, and one more every three minutes. */
function needPeerPatience(world: World, { sender, at }: { sender: string; at: number }, attempt: Attempt): void {
  let left = 20;
  let last = 0;
  for (const { fromId, sentAt } of world.messages) {
    if (fromId.split('@')[1] !== sender) continue;
    left = Math.min(20, left + (sentAt - last) / 180_000) - 1;
    last = sentAt;
  }
  if (left + (at - last) / 180_000 < 1) attempt.codes.push('limit');
}

function needMailbox(world: World, memberId: string, attempt: Attempt): void {
  const member = world.members.find(({ id }) => id === memberId);
  if (!member) attempt.codes.push('not_found');
  else if (!isExpected(member)) attempt.codes.push('member_stopped');
}

function needMessages(
  world: World,
  command: { by: string; memberId: string; messageIds: readonly string[] },
  attempt: Attempt,
): World['messages'] {
  needOpenTeam(world, attempt);
  needActor(world, command.by, attempt);
  if (command.by !== command.memberId && command.by !== '@system') attempt.codes.push('not_allowed');
  if (!world.members.some(({ id }) => id === command.memberId)) attempt.codes.push('not_found');
  const own = world.messages.filter(({ toId }) => toId === command.memberId);
  if (command.messageIds.some((id) => !own.some((message) => message.id === id))) attempt.codes.push('not_found');
  return own.filter(({ id }) => command.messageIds.includes(id));
}

function needRequest(
  world: World,
  command: { by: string; requestId: string },
  kind: Request['kind'],
  attempt: Attempt,
): Request | undefined {
  needOpenTeam(world, attempt);
  needActor(world, command.by, attempt);
  const request = world.requests.find(({ id }) => id === command.requestId);
  if (request?.kind !== kind) attempt.codes.push('not_found');
  else if (request.status !== 'pending') attempt.codes.push('conflict');
  return request;
}

function needOwnShutdown(world: World, command: { by: string; requestId: string }, attempt: Attempt) {
  const request = needRequest(world, command, 'shutdown', attempt);
  if (request && command.by !== request.memberId && command.by !== '@system') attempt.codes.push('not_allowed');
  return refused(attempt) ? undefined : request;
}

/** The lead or a person judges a plan, but never their own. */
function needForeignPlan(world: World, command: { by: string; requestId: string }, attempt: Attempt) {
  const request = needRequest(world, command, 'plan', attempt);
  const mayJudge = command.by === '@user' || command.by === world.team?.leadId;
  if (!mayJudge || command.by === request?.memberId) attempt.codes.push('not_allowed');
  return refused(attempt) ? undefined : request;
}

/**
 * Stops a member: releases the tasks it holds, and unreserves its other tasks unless it will return. What it handed in
 * stays in the queue, unless the team ends.
 */
function stop(
  world: World,
  member: Member,
  { at, reason, returning = false }: { at: number; reason?: string | undefined; returning?: boolean },
  attempt: Attempt,
  { isLast = false } = {},
): void {
  member.status = 'stopped';
  member.statusSince = at;
  member.stoppedAt = at;
  member.stopReason = reason;
  member.returning = returning || undefined;
  attempt.facts.push(`teammate:stopped ${member.id}`);
  for (const task of world.tasks.filter(({ assigneeId }) => assigneeId === member.id)) {
    if (task.status === 'in_progress' && isWaiting(task) && !isLast) leave(task, at, attempt);
    else if (task.status === 'in_progress') {
      withdraw(world, task, { at, why: reason ?? `${member.id} stopped` }, attempt);
      release(task, at, attempt);
    }
    if (task.status === 'pending' && task.assigneeId === member.id && !returning) {
      reserve(task, { at, assigneeId: undefined }, attempt);
    }
  }
  if (!isLast && !returning) replaceReviewer(world, member.id, at, attempt);
  for (const request of world.requests) {
    // What it handed in waits on, and a reviewer that returns can still answer.
    const staysOpen =
      request.kind === 'work' || request.kind === 'question' || (request.kind === 'review' && returning);
    if (request.status === 'pending' && request.memberId === member.id && !staysOpen) request.status = 'withdrawn';
  }
}

function pendingRequests(world: World, memberId: string, kind: Request['kind']): Request[] {
  return world.requests.filter(
    (request) => request.status === 'pending' && request.kind === kind && request.memberId === memberId,
  );
}

function answer(
  request: Request,
  { at, by, feedback }: { at: number; by: Request['requestedBy']; feedback?: string | undefined },
  status: Request['status'],
): void {
  Object.assign(request, { status, answeredBy: by, answeredAt: at, feedback });
}

function names(messages: World['messages']): string {
  return messages.map(({ id }) => id).join(' ');
}
