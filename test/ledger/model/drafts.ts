import * as fc from 'fast-check';
import type { z } from 'zod';
import { ReportAccountInput, SetAccountInput } from '../../../src/core/account.ts';
import type { Actor } from '../../../src/core/actor.ts';
import type { Command, CommandType } from '../../../src/core/command.ts';
import { HookConfig, HookType } from '../../../src/core/hook.ts';
import { ChangeMemberInput, JoinInput, LeaveInput, PlaceMemberInput } from '../../../src/core/member.ts';
import { BroadcastInput, DeliverInput, ReceiptInput, SendMessageInput } from '../../../src/core/message.ts';
import { AddNoteInput, RemoveNoteInput, UpdateNoteInput } from '../../../src/core/note.ts';
import { WorkOverlap } from '../../../src/core/overlap.ts';
import {
  AnswerRequestInput,
  ApproveInput,
  RaiseRequestInput,
  RejectInput,
  RequestShutdownInput,
  SubmitPlanInput,
} from '../../../src/core/request.ts';
import { ReviewWorkInput } from '../../../src/core/review.ts';
import {
  AssignTaskInput,
  ChangeTaskInput,
  ClaimTaskInput,
  CompleteTaskInput,
  CreateTaskInput,
  DependenciesInput,
  FailTaskInput,
  RejectTaskInput,
  RenewTaskInput,
} from '../../../src/core/task.ts';
import { TeamWork } from '../../../src/core/team-work.ts';
import { CloseTeamInput, CreateTeamInput, UpdateTeamInput } from '../../../src/core/team.ts';
import { MoveTipInput, RefuseTipInput } from '../../../src/core/tip.ts';
import { RecordUsageInput } from '../../../src/core/usage.ts';
import {
  AskWorkInput,
  BeginLandingInput,
  BeginWorkInput,
  EndLandingInput,
  HandedIn,
  LoseWorkInput,
  SubmitWorkInput,
} from '../../../src/core/work.ts';
import { INPUTS } from '../../core/stage.ts';
import { COMMANDS } from '../../samples/commands.ts';
import { commit, WORK } from '../../samples/work.ts';
import { TEAM } from './world.ts';
import type { Note, Task, World } from './world.ts';

/*
 * A command without a subject: its numbers select among the tasks, members and so on that exist when its turn comes. So
 * most commands are valid, fast-check can shrink the numbers, and a draft stays valid without the drafts before it.
 */
export interface Draft {
  readonly type: CommandType;
  /** Selects the caller; below 7 it is one that may do this. */
  readonly by: number;
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly flag: boolean;
  readonly commandId: number | undefined;
  /** Milliseconds since the previous command. */
  readonly later: number;
}

/** How often a command is drawn that is not listed. */
const USUAL = 12;

/** How often the others are drawn. */
const WEIGHTS: { readonly [T in CommandType]?: number } = {
  'team.create': 3,
  'team.update': 6,
  'team.close': 1,
  'member.join': 24,
  'member.change': 20,
  'member.leave': 12,
  'member.place': 8,
  'task.create': 60,
  'task.update': 24,
  'task.assign': 32,
  'task.claim': 140,
  'task.release': 24,
  'task.complete': 130,
  'task.fail': 20,
  'task.reopen': 24,
  'task.delete': 10,
  'task.addDependencies': 40,
  'task.removeDependencies': 16,
  'work.submit': 180,
  'work.ask': 60,
  'work.review': 40,
  'work.keep': 3,
  'work.lose': 1,
  'landing.begin': 140,
  'landing.end': 6,
  'tip.move': 3,
  'tip.refuse': 2,
  'message.send': 24,
  'message.receive': 16,
  'message.broadcast': 8,
  'message.deliver': 24,
  'shutdown.approve': 10,
  'shutdown.reject': 8,
  'plan.submit': 14,
  'plan.approve': 10,
  'plan.reject': 8,
  'request.answer': 10,
  'note.update': 8,
  'note.remove': 8,
  'hook.register': 8,
  'hook.remove': 6,
  'usage.record': 10,
  'account.report': 16,
  'account.set': 8,
};

const small = fc.nat({ max: 47 });

export const draft: fc.Arbitrary<Draft> = fc.record({
  type: fc.oneof(
    ...(Object.keys(INPUTS) as CommandType[]).map((type) => ({
      weight: WEIGHTS[type] ?? USUAL,
      arbitrary: fc.constant(type),
    })),
  ),
  by: fc.nat({ max: 9 }),
  a: small,
  b: small,
  c: small,
  flag: fc.boolean(),
  commandId: fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.nat({ max: 7 }) }),
  later: fc.constantFrom(0, 0, 1, 1000),
});

const MEMBERS = ['lead', 'ann', 'bob', 'cy', 'dee'];
const STRANGERS: readonly Actor[] = ['lead', 'ann', 'bob', 'cy', '@user', '@system', 'zed'];

/** Limits that are low enough for a run to reach. */
const FEW = { name: TEAM, maxTeammates: 3, messagesPerMinute: 12, peers: ['beta'] };

const EXEC = { kind: 'exec', command: ['true'] };

/** The work that the opening asks about. */
const NAME = { taskId: '4', epoch: 1, commit: commit(5) };
const JUDGED = { landingId: 'l9', onto: commit(1), merged: commit(6) };
const SIZE = { files: 1, added: 1, removed: 0, paths: ['b/c.sql'] };

/** The commands that most runs begin with. */
export function opening(at: number): Command[] {
  const join = (name: string, input: object = {}): Command => ({
    type: 'member.join',
    at,
    by: 'lead',
    ...JoinInput.parse({ name, ...input }),
  });
  const create = (title: string, input: object = {}): Command => ({
    type: 'task.create',
    at,
    by: 'lead',
    ...CreateTaskInput.parse({ title, ...input }),
  });
  return [
    {
      type: 'team.create',
      at,
      by: '@user',
      ...CreateTeamInput.parse(FEW),
      work: { ...WORK, approve: { paths: ['b/**'] } },
    },
    join('ann', { agent: EXEC }),
    join('bob', { planApprovalRequired: true }),
    join('cy', { agent: EXEC }),
    create('first'),
    create('second', { priority: 'high' }),
    create('third', { dependencies: ['1'], onDependencyFailure: 'fail' }),
    create('fourth'),
    // Two works wait to land.
    ...['ann', 'cy'].flatMap((memberId, i): Command[] => {
      const taskId = ['2', '1'][i] as string;
      const size = { files: 1, added: 1, removed: 0, paths: ['a.txt'] };
      const work = { taskId, memberId, epoch: 1, base: commit(1), commit: commit(2 + i), ...size };
      return [
        { type: 'task.claim', at, by: memberId, taskId },
        { type: 'work.submit', at, by: memberId, ...work },
      ];
    }),
    // Another one waits for its approval.
    { type: 'task.claim', at, by: 'ann', taskId: '4' },
    { type: 'work.submit', at, by: 'ann', ...NAME, memberId: 'ann', base: commit(1), ...SIZE },
    { type: 'landing.begin', at, by: '@system', hostId: 'h1', ...JUDGED, works: [NAME] },
    { type: 'work.ask', at, by: '@system', ...NAME, ...JUDGED },
    // Members of a limited account ask what to do.
    { type: 'team.update', at, by: '@user', ...UpdateTeamInput.parse({ onLimit: 'ask' }) },
    ...['ann', 'cy'].map((memberId): Command => ({
      type: 'member.change',
      at,
      by: memberId,
      ...ChangeMemberInput.parse({ memberId, account: 'claude' }),
    })),
    {
      type: 'request.raise',
      at,
      by: '@system',
      ...RaiseRequestInput.parse({
        kind: 'account',
        memberId: 'ann',
        content: 'The limit is reached',
        detail: { account: 'claude' },
        question: WHEN_LIMITED,
      }),
    },
  ];
}

/** Turns a draft into a command on the current world. */
export function commandOf(world: World, drawn: Draft, at: number): Command {
  // Without a team, half of the drafts become team.create: most others would fail.
  const draft: Draft = world.team || drawn.b % 2 === 0 ? drawn : { ...drawn, type: 'team.create' };
  const by = pickActor(world, draft);
  const envelope = draft.commandId === undefined ? { at, by } : { at, by, commandId: `c${draft.commandId}` };
  return { type: draft.type, ...envelope, ...inputOf(world, draft, { by, at }) } as Command;
}

/** The input of the command, parsed by the same schemas as any input. */
function inputOf(world: World, draft: Draft, { by, at }: { by: Actor; at: number }): object {
  const { a, b, c, flag } = draft;
  const task = pickTask(world, draft);
  const taskId = task?.id ?? '99';
  const seen = seenOf(task, c);
  const memberId = pickFrom(MEMBERS, a);
  const text = (name: string) => `${name} ${b % 3}`;
  switch (draft.type) {
    case 'team.create':
      return CreateTeamInput.parse({
        name: a % 4 === 3 ? 'other' : TEAM,
        maxTeammates: 3,
        description: text('team'),
      });
    case 'team.update':
      return UpdateTeamInput.extend({ work: TeamWork.optional() }).parse(
        pickFrom(
          [
            { description: text('team') },
            { peers: pickFrom([['beta'], ['beta', 'gamma'], [], [TEAM]], b) },
            { maxTeammates: 2 + (b % 3), metadata: metadataOf(c) },
            { leadId: pickFrom(MEMBERS, b) },
            { status: flag ? 'active' : 'shutting-down' },
            { status: 'active', delegateMode: flag },
            { onLimit: pickFrom(POLICIES, b) },
            {
              work: {
                ...WORK,
                copy: [text('file')],
                ...(b % 3 > 0 && { approve: pickFrom(['always', 'never', { paths: ['b/**'] }], c) }),
                ...(b % 3 > 1 && { review: pickFrom(MEMBERS, c) }),
                ...(flag && { branch: 'other' }),
                ...(a % 3 === 2 && { roots: [commit(1)] }),
              },
            },
          ],
          a,
        ),
      );
    case 'team.close':
      return CloseTeamInput.parse({ force: flag });
    case 'member.join':
      return JoinInput.parse({
        name: a % 10 === 9 ? 'zed' : memberId,
        planApprovalRequired: flag,
        status: pickFrom(['active', 'idle', 'spawning'], b),
        prompt: flag ? 'Work.' : '',
        ...(b % 2 === 1 && { agent: { ...EXEC, messages: flag } }),
        ...(c % 5 === 4 && { workspace: 'shared' }),
        metadata: metadataOf(c),
      });
    case 'member.change':
      return ChangeMemberInput.parse({
        memberId: draft.by < 6 && MEMBERS.includes(by) ? by : memberId,
        status: pickFrom([undefined, 'idle', 'active', 'idle', 'active', 'spawning', 'shutting-down'], b),
        ...(flag && { result: text('result'), reason: text('reason') }),
        ...(c % 3 === 0 && { model: text('model'), metadata: metadataOf(b) }),
        ...(a % 3 === 0 && { account: pickFrom(ACCOUNTS, b) }),
        ...(by.startsWith('@') && { onLimit: pickFrom(POLICIES, c) }),
      });
    case 'member.leave':
      return LeaveInput.parse({ memberId, returning: flag, ...(b % 2 === 0 && { reason: text('reason') }) });
    case 'member.place':
      return PlaceMemberInput.parse({ memberId, hostId: pickFrom(['h1', 'h2'], b) });
    case 'task.create':
      return CreateTaskInput.parse({
        title: text('task'),
        priority: pickFrom(['medium', 'low', 'high', 'critical'], a),
        assigneeId: b % 4 === 3 ? pickFrom(MEMBERS, c) : undefined,
        dependencies: pickDependencies(world, draft),
        ...(c % 3 === 1 && { files: pickFrom(FILES, a + b) }),
        ...(b % 3 === 1 && { budget: { turns: 1 + (a % 3) } }),
        onDependencyFailure: pickFrom(['block', 'block', 'proceed', 'fail'], c),
        metadata: metadataOf(a),
      });
    case 'task.update':
      return ChangeTaskInput.parse({
        taskId,
        ...pickFrom(
          [
            { title: text('task') },
            { priority: pickFrom(['low', 'high', 'critical'], b) },
            { onDependencyFailure: pickFrom(['proceed', 'fail', 'block'], b) },
            { metadata: metadataOf(b) },
            { files: pickFrom([...FILES, []], a) },
            { budget: pickFrom([{ turns: 1 }, { turns: 3 }, { tokens: 9 }, {}], b) },
          ],
          c,
        ),
        ...seen,
      });
    case 'task.assign':
      return AssignTaskInput.parse({
        taskId,
        assigneeId: b % 5 === 4 ? null : flag && MEMBERS.includes(by) ? by : pickFrom(MEMBERS, b),
        ...seen,
      });
    case 'task.claim':
      return ClaimTaskInput.parse({
        ...(!flag && { taskId }),
        ...(b % 6 === 5 && { memberId: pickFrom(MEMBERS, c) }),
        ...(b % 8 === 4 && { lease: 60_000 }),
      });
    case 'task.renew':
      return RenewTaskInput.parse({ taskId, ...seen });
    case 'task.complete':
      return {
        ...CompleteTaskInput.parse({
          taskId,
          ...(flag && { result: text('result') }),
          ...(a % 6 === 5 && { refused: true }),
          ...seen,
        }),
        ...(c % 3 > 0 && { accepted: true }),
        ...(isLanding(world, draft) ? { work: nextToLand(world, draft, task) } : {}),
        ...(!isLanding(world, draft) && b % 3 === 0 && { work: handedIn(world, draft, task) }),
      };
    case 'task.reject':
      return {
        ...RejectTaskInput.parse({
          taskId,
          feedback: text('again'),
          ...(a % 7 === 5 && { unable: true }),
          ...(a % 7 === 6 && { refused: true }),
          ...(a % 2 === 0 && { result: text('result') }),
          ...seen,
        }),
        ...(c % 3 === 0 && { work: handedIn(world, { ...draft, flag: false }, task) }),
        ...(c % 3 === 1 && { commit: task?.work?.commit ?? commit(b % 10) }),
      };
    case 'task.fail':
      return FailTaskInput.parse({ taskId, reason: text('failure'), ...seen });
    case 'task.addDependencies':
    case 'task.removeDependencies': {
      const dependencies = pickDependencies(world, draft);
      const all = dependencies.length > 0 ? dependencies : [pickFrom(idsOf(world.tasks), b) ?? '99'];
      const own = draft.type === 'task.removeDependencies' && flag ? (task?.dependencies ?? []) : [];
      return DependenciesInput.parse({ taskId, dependencies: own.length > 0 ? own.slice(0, 2) : all, ...seen });
    }
    case 'work.begin':
      return BeginWorkInput.parse({
        taskId,
        memberId: task?.assigneeId ?? pickFrom(MEMBERS, b),
        epoch: Math.max(0, (task?.epoch ?? 1) - Number(c % 8 === 7)),
        base: commit(1 + (b % 3)),
      });
    case 'work.lose':
      return LoseWorkInput.parse({
        from: b % 2 === 0 ? (world.team?.work?.tip ?? commit(1)) : commit(1 + (b % 3)),
        to: commit(1 + (c % 3)),
        works: flag ? [{ taskId, merged: commit(1 + (b % 3)) }] : [],
        why: 'removed',
      });
    case 'work.overlap': {
      const side = ({ id, epoch, assigneeId = 'ann' }: Task) => ({
        memberId: c % 8 === 7 ? pickFrom(MEMBERS, a) : assigneeId,
        taskId: id,
        epoch: Math.max(0, epoch - Number(b % 8 === 7)),
      });
      const held = world.tasks.filter(({ status }) => status === 'in_progress' || c % 8 === 6).map(side);
      const sides = [a, a + 1].map((n) => pickFrom(held, n % Math.max(1, held.length)));
      const none = { memberId: 'ann', taskId: '99', epoch: 1 };
      const [one = none, other = none] = sides.sort((x, y) => Number(x?.taskId) - Number(y?.taskId));
      const paths = ['a.txt', 'b.txt', 'c.txt'].slice(0, b % 4);
      const conflicts = flag ? paths.slice(0, c % 3) : [];
      return WorkOverlap.parse({ sides: [one, other], files: paths.length, paths, conflicts });
    }
    case 'work.submit': {
      const { onto: _onto, merged: _merged, conflicts: _conflicts, ...work } = handedIn(world, draft, task);
      return SubmitWorkInput.parse({
        taskId,
        ...work,
        ...(flag && { result: text('result') }),
        ...(b % 5 === 3 && { refused: true }),
      });
    }
    case 'landing.begin': {
      const { queue = [], tip = commit(1) } = world.team?.work ?? {};
      const wanted = [...queue.slice(0, 1 + (a % 3)), ...(b % 8 === 7 || queue.length === 0 ? [taskId] : [])];
      return BeginLandingInput.parse({
        landingId: `l${b % 3}`,
        hostId: pickFrom(['h1', 'h2'], c),
        onto: c % 8 === 7 ? commit(8) : tip,
        merged: commit(c % 10),
        works: wanted.map((id) => {
          const { epoch = 0, work } = world.tasks.find((other) => other.id === id) ?? {};
          return { taskId: id, epoch: Math.max(0, epoch - Number(c % 16 === 15)), commit: work?.commit ?? commit(2) };
        }),
      });
    }
    case 'tip.move':
      return MoveTipInput.parse({
        from: a % 8 === 7 ? commit(9) : (world.team?.work?.tip ?? commit(1)),
        to: commit(1 + (c % 3)),
        ...(flag && { rewritten: true }),
        ...(b % 4 === 3 && { base: commit(1 + (c % 3)) }),
      });
    case 'tip.refuse':
      return RefuseTipInput.parse({ commit: commit(c % 10), ref: 'refs/deleted/alpha/1' });
    case 'work.ask': {
      const { landing, tip = commit(1) } = world.team?.work ?? {};
      const next = landing?.works[a % landing.works.length];
      return AskWorkInput.parse({
        taskId: next?.taskId ?? taskId,
        epoch: Math.max(0, (next?.epoch ?? 1) - Number(c % 16 === 15)),
        commit: b % 16 === 15 ? commit(9) : (next?.commit ?? commit(2)),
        landingId: b % 12 === 11 ? 'l9' : (landing?.id ?? 'l0'),
        onto: c % 12 === 11 ? commit(8) : tip,
        merged: commit(a % 10),
        ...(c % 4 > 0 && { accepted: true }),
      });
    }
    case 'work.review': {
      const all = world.tasks.filter(({ work }) => work?.state === 'asked');
      // Often one whose branch has moved since it was judged.
      const moved = all.filter(({ work }) => work?.onto !== world.team?.work?.tip);
      const asked = pickFrom(moved.length > 0 ? moved : c % 3 === 0 ? all : [], a);
      return ReviewWorkInput.parse({
        taskId: asked?.id ?? taskId,
        commit: (c % 12 === 11 ? commit(9) : (asked?.work?.commit ?? commit(2))).slice(0, flag ? 40 : 7),
        approve: b % 2 === 0,
        ...(c % 2 === 0 && { summary: text('review') }),
      });
    }
    case 'landing.end':
      return EndLandingInput.parse({
        landingId: flag ? (world.team?.work?.landing?.id ?? 'l0') : `l${b % 3}`,
        how: pickFrom(['red', 'split', 'dropped'], a),
        why: text('why'),
      });
    case 'message.send': {
      const types = ['direct', 'direct', 'direct', 'direct', 'system', 'plan_approval'];
      const input = { toId: a % 12 === 11 ? 'zed' : memberId, content: text('hello'), type: pickFrom(types, c) };
      const { type: messageType, ...message } = SendMessageInput.parse(input);
      return { ...message, messageType, messageId: `m${c % 8}` };
    }
    case 'message.receive':
      return {
        ...SendMessageInput.omit({ type: true }).parse({
          toId: a % 2 === 0 ? 'lead' : memberId,
          content: text('hello'),
          priority: b % 8 === 7 ? 'urgent' : 'normal',
        }),
        messageId: `m${c % 8}`,
      };
    case 'message.broadcast':
      return { ...BroadcastInput.parse({ content: text('all'), priority: 'urgent' }), messageId: `m${c % 4}` };
    case 'message.deliver':
      return DeliverInput.parse({
        ...pickMessages(world, draft, by),
        sessionId: pickFrom(['s1', 's2'], b),
        redelivery: flag,
      });
    case 'message.acknowledge':
    case 'message.read':
      return ReceiptInput.parse(pickMessages(world, draft, by));
    case 'shutdown.request':
      return RequestShutdownInput.parse({ memberId, reason: text('reason'), ...(flag && { within: 1 + a }) });
    case 'plan.submit':
      return SubmitPlanInput.parse({ content: text('plan'), ...(flag && { filePath: 'plan.md' }) });
    case 'shutdown.approve':
    case 'plan.approve':
      return ApproveInput.parse({ requestId: pickRequest(world, draft), ...(flag && { feedback: text('fine') }) });
    case 'shutdown.reject':
    case 'plan.reject':
      return RejectInput.parse({ requestId: pickRequest(world, draft), feedback: text('not yet') });
    case 'request.raise':
      return RaiseRequestInput.parse({
        kind: pickFrom(['gate', 'permission', 'budget', 'restart', 'question', 'hang', 'account'], b),
        memberId: draft.by < 6 && MEMBERS.includes(by) ? by : memberId,
        content: c % 5 === 0 ? 'Which one?' : text('question'),
        ...(b % 7 === 4 && c % 4 > 0 && { question: QUESTIONS[c % 4] }),
        ...(c % 3 === 0 && { taskId: pickFrom(idsOf(world.tasks), b) ?? '99' }),
        ...(flag && { within: 1 + a, detail: { n: c } }),
        ...(b % 7 === 6 && { detail: { account: pickFrom(ACCOUNTS, a) } }),
        ...(b % 7 === 6 && c % 4 > 0 && { question: WHEN_LIMITED }),
      });
    case 'request.answer': {
      const requestId = pickRequest(world, draft);
      const { choices = [] } = world.requests.find(({ id }) => id === requestId)?.question ?? {};
      return AnswerRequestInput.parse({
        requestId,
        approve: flag || choices.length > 0,
        ...(c % 2 === 0 && { feedback: text('answer') }),
        ...(c % 5 === 4 && { choice: 'up' }),
        ...(choices.length > 0 && c % 5 < 3 && { choice: pickFrom(choices, b) }),
        ...(c % 11 === 7 && { grants: 2 }),
        ...(c % 11 === 8 && { revision: 'of another' }),
      });
    }
    case 'note.add':
      return AddNoteInput.parse({ text: text('note'), ...(flag && { tags: [text('tag')] }) });
    case 'note.update': {
      const note = pickNote(world, draft);
      return UpdateNoteInput.parse({
        noteId: note?.id ?? '99',
        ...(flag ? { text: text('note') } : { tags: [text('tag')] }),
        ...(c % 3 === 1 && { revision: (note?.revision ?? 1) - (b % 2) }),
      });
    }
    case 'note.remove':
      return RemoveNoteInput.parse({ noteId: pickNote(world, draft)?.id ?? '99' });
    case 'hook.register':
      return { hook: HookConfig.parse({ type: pickFrom(HookType.options, a), command: text('true'), enabled: flag }) };
    case 'hook.remove':
      return { hookType: HookType.parse(pickFrom(HookType.options, a)) };
    case 'usage.record':
      return RecordUsageInput.parse({
        memberId,
        ...(flag && { taskId }),
        usage: { inputTokens: a, outputTokens: b, turns: 1, costUsd: c / 4, estimated: flag },
      });
    case 'account.report':
      return ReportAccountInput.parse({
        memberId: MEMBERS.includes(by) ? by : memberId,
        ...(a % 3 === 0 && { windows: [{ name: pickFrom(['five_hour', 'week'], b), used: c / 40 }] }),
        ...(b % 3 !== 0 && { cause: pickFrom(['limited', 'overloaded', 'unauthorised'], c), reason: text('no') }),
        ...(flag && { resetsAt: Math.max(0, at + (a - 5) * 1_000) + (b % 8 === 0 ? 40 * 86_400_000 : 0) }),
        pauseMs: b * 1_000,
        ...(c % 2 === 0 && { worksSince: c % 8 === 0 ? at + 1e12 : at }),
        // The turn began before or after what is known about the limit.
        ...(a % 4 === 3 && { knownAt: Math.max(0, at - b * 1_000) }),
      });
    case 'account.set': {
      const limit = { cause: 'limited', reason: text('no'), since: at, until: at + b * 1_000, known: flag, tries: 1 };
      return SetAccountInput.parse({
        account: pickFrom(ACCOUNTS, a),
        ...(b % 3 === 0 && { windows: [{ name: 'week', used: c / 40 }] }),
        limit: c % 2 === 0 ? null : limit,
        // What another team learned before or after this one.
        ...(a % 4 !== 0 && { asOf: Math.max(0, at + (b - 20) * 1_000) }),
      });
    }
    default: {
      // The sample of the command, about something in this world.
      const { input } = COMMANDS[draft.type];
      const schema: z.ZodObject = INPUTS[draft.type];
      return schema.parse({
        ...input,
        ...('taskId' in input && { taskId }),
        ...('memberId' in input && { memberId }),
        ...('epoch' in schema.shape && seen),
      });
    }
  }
}

/** Some meet, some do not. */
const FILES = [['a'], ['b'], ['a/x'], ['a/**', 'b/y'], ['c', 'a/y/z']];

/** Work of the holder onto the tip; sometimes of another member, another epoch or another tip. */
function handedIn({ team }: World, { a, b, c, flag }: Draft, task: Task | undefined): HandedIn {
  return HandedIn.parse({
    memberId: a % 7 === 6 ? pickFrom(MEMBERS, b) : (task?.assigneeId ?? 'ann'),
    epoch: Math.max(0, (task?.epoch ?? 1) - Number(c % 16 === 15)),
    base: commit(1),
    commit: commit(a % 10),
    files: a % 4,
    added: b,
    removed: c,
    paths: [a % 3 === 2 ? 'b/c.sql' : 'a.txt', 'd.txt', 'e.txt'].slice(0, Math.max(1, a % 4)),
    onto: b % 5 === 4 ? commit(8) : (team?.work?.tip ?? commit(1)),
    ...(c % 4 === 3 && { pack: { commit: commit(b % 10), hash: commit(2).repeat(2).slice(0, 64), size: c } }),
    ...(flag ? { merged: commit(c % 10) } : { conflicts: ['a.txt', 'b.txt'].slice(0, 1 + (c % 2)) }),
  });
}

/** Whether a completion lands what the open landing has next. */
function isLanding({ team }: World, { b, c }: Draft): boolean {
  return team?.work?.landing !== undefined && (b + c) % 8 !== 7;
}

/** The work of the open landing as it was handed in; sometimes another commit or another landing. */
function nextToLand(world: World, draft: Draft, task: Task | undefined): HandedIn {
  const { a, b, c } = draft;
  const handed = { ...handedIn(world, { ...draft, flag: b % 12 !== 11 }, task), landingId: `l${b % 3}` };
  const { landing } = world.team?.work ?? {};
  const named = landing?.works.find(({ taskId }) => taskId === task?.id);
  if (!landing || !named || (a + c) % 16 === 15) return handed;
  const { epoch, commit } = named;
  return { ...handed, epoch, commit, files: 1 + (a % 3), landingId: landing.id };
}

/** Usually an actor that may do this, sometimes any actor. */
function pickActor(world: World, draft: Draft): Actor {
  const { type, by, a } = draft;
  // Only Troupe's own code makes this command, always with an address.
  if (type === 'message.receive') return pickFrom(['lead@beta', 'ann@beta', 'bob@gamma'], by + a);
  if (by >= 7) return STRANGERS[(by + a) % STRANGERS.length] as Actor;
  const worker = pickFrom(
    world.members.filter(({ status }) => status !== 'stopped').map(({ id }) => id),
    a,
  );
  if (type === 'work.review' && by < 5) return by < 2 ? '@user' : (world.team?.work?.review ?? '@user');
  const isTroupes = ['work.ask', 'work.keep', 'work.lose', 'work.overlap', 'tip.refuse'].includes(type);
  if (isTroupes || type.startsWith('landing.')) return '@system';
  if (type === 'tip.move') return '@user';
  // Now and then a person accepts work as it is.
  if (type === 'task.complete' && by === 6) return '@user';
  if (type === 'work.submit' && by === 6) return '@system';
  if (
    type === 'task.complete' ||
    type === 'work.submit' ||
    type === 'work.begin' ||
    type === 'task.release' ||
    type === 'task.renew' ||
    type === 'task.fail'
  ) {
    return pickTask(world, draft)?.assigneeId ?? 'lead';
  }
  if (type === 'task.claim' || type === 'plan.submit' || type === 'message.send') return worker ?? 'lead';
  if (type === 'shutdown.approve' || type === 'shutdown.reject') {
    return world.requests.find(({ id }) => id === pickRequest(world, draft))?.memberId ?? 'lead';
  }
  if (type === 'message.deliver' || type === 'message.acknowledge' || type === 'message.read') {
    return pickFrom(world.messages, a)?.toId ?? '@system';
  }
  if (type === 'member.change' && by === 6) return '@user';
  if (type === 'message.broadcast' || type === 'member.change') return worker ?? '@system';
  if (type === 'member.place' || type === 'task.reject') return '@system';
  if (type.startsWith('hook.') || type === 'request.answer') return by === 6 ? '@system' : '@user';
  // Only Troupe asks about gates and accounts.
  if (type === 'request.raise' && (draft.b % 7 === 6 || (draft.b % 7 === 0 && by > 0))) return '@system';
  if (type === 'request.raise' || type === 'note.add') return worker ?? '@system';
  if (type === 'note.update' || type === 'note.remove') return pickNote(world, draft)?.authorId ?? 'lead';
  return by === 6 ? '@user' : (world.team?.leadId ?? '@user');
}

/** Usually a task that fits the command, if there is one. */
function pickTask(world: World, draft: Draft): Task | undefined {
  const { type, a, b } = draft;
  if (a % 16 === 15) return undefined;
  if (type === 'task.complete' && isLanding(world, draft)) {
    const [next] = world.team?.work?.landing?.works ?? [];
    const task = world.tasks.find(({ id }) => id === next?.taskId);
    if (task && b % 6 !== 5) return task;
  }
  const leased = world.tasks.filter(({ lease }) => lease !== undefined);
  if (type === 'task.renew' && leased.length > 0) return pickFrom(leased, a);
  // Mostly of members that work apart and have not handed in yet.
  const apart = new Set(world.members.filter(({ workspace }) => workspace === 'own').map(({ id }) => id));
  const begun = world.tasks.filter(
    ({ status, assigneeId = '', work }) =>
      status === 'in_progress' && apart.has(assigneeId) && work?.state !== 'submitted',
  );
  if (type === 'work.submit' && b % 4 !== 3 && begun.length > 0) return pickFrom(begun, a);
  const wanted: Partial<Record<CommandType, readonly string[]>> = {
    'task.claim': ['pending'],
    'task.assign': ['pending', 'in_progress'],
    'task.release': ['in_progress'],
    'task.complete': ['in_progress'],
    'work.begin': ['in_progress'],
    'work.submit': ['in_progress'],
    'task.reject': ['in_progress'],
    'task.fail': ['in_progress', 'pending'],
    'task.reopen': ['completed', 'failed', 'deleted'],
    'task.addDependencies': ['pending'],
    'task.removeDependencies': ['pending'],
  };
  const fitting = world.tasks.filter(({ status }) => wanted[type]?.includes(status) ?? true);
  return pickFrom(b % 6 === 5 || fitting.length === 0 ? world.tasks : fitting, a);
}

function pickDependencies(world: World, { b, c, flag }: Draft): string[] {
  const ids = idsOf(world.tasks);
  if (ids.length === 0 || b % 3 === 0) return [];
  const first = pickFrom(ids, b);
  const dependencies = flag ? [first] : [first, pickFrom(ids, c >> 1)];
  return c % 16 === 15 ? [...dependencies, '99'] : dependencies;
}

function pickMessages(world: World, draft: Draft, by: Actor): { memberId: string; messageIds: string[] } {
  const { a, b, c } = draft;
  const memberId = MEMBERS.includes(by) && b % 8 !== 7 ? by : (pickFrom(MEMBERS, a) ?? 'lead');
  const inbox = world.messages.filter(({ toId }) => toId === memberId);
  const from = inbox.length > 0 && c % 9 !== 8 ? inbox : world.messages;
  const ids = [a, b, c].slice(0, 1 + (a % 3)).flatMap((n) => pickFrom(idsOf(from), n) ?? []);
  return { memberId, messageIds: ids.length > 0 && c % 13 !== 12 ? ids : [...ids, 'm99'] };
}

const ACCOUNTS = ['claude', 'codex'];

/** What follows when the limit of an account is reached. */
const POLICIES = ['ask', 'wait', { ask: ['codex'] }, 'ask'];

/** The question about a limited account. */
const WHEN_LIMITED = { choices: ['wait', 'use codex', 'stop'], freeText: false, otherwise: 'go-on', fallback: 'wait' };

/** Forms of questions; one of them cannot be answered. */
const QUESTIONS = [
  {},
  { choices: ['left', 'right'], otherwise: 'fail' },
  { choices: ['left', 'right'], freeText: false, fallback: 'right' },
  { freeText: false },
] as const;

function pickRequest(world: World, { type, a, b }: Draft): string {
  const noun = type.slice(0, type.indexOf('.'));
  const answered = ['gate', 'permission', 'budget', 'restart', 'hang', 'account', 'work', 'review', 'question'];
  const kinds: readonly string[] = noun === 'request' ? answered : [noun];
  const fitting = world.requests.filter(({ kind, status }) => kinds.includes(kind) && status === 'pending');
  return pickFrom(idsOf(b % 4 === 3 || fitting.length === 0 ? world.requests : fitting), a) ?? 'none';
}

/** Usually an existing note. */
function pickNote({ notes }: World, { a }: Draft): Note | undefined {
  return a % 16 === 15 ? undefined : pickFrom(notes, a);
}

/** The epoch and revision that the caller names: none, the current ones, or older ones. */
function seenOf(task: Task | undefined, c: number): { epoch?: number; revision?: number } {
  const { epoch, revision } = task ?? { epoch: 1, revision: 1 };
  switch (c % 8) {
    case 4:
      return { epoch, revision };
    case 5:
      return { epoch };
    case 6:
      return { epoch: Math.abs(epoch - 1) };
    case 7:
      return { revision: revision - 1 };
    default:
      return {};
  }
}

function metadataOf(n: number): Record<string, unknown> | undefined {
  return pickFrom([undefined, undefined, { k: n }, { k: null }, { other: [n], k: 'v' }], n);
}

function pickFrom<T>(items: readonly T[], n: number): T;
function pickFrom<T>(items: readonly T[], n: number): T | undefined {
  return items[n % items.length];
}

function idsOf(records: readonly { id: string }[]): string[] {
  return records.map(({ id }) => id);
}
