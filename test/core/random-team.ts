import * as fc from 'fast-check';
import type { z } from 'zod';
import type { Actor } from '../../src/core/actor.ts';
import type { Command, CommandType } from '../../src/core/command.ts';
import { decide } from '../../src/core/decide.ts';
import { TeamError } from '../../src/core/errors.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import { evolve } from '../../src/core/evolve.ts';
import type { WorkOverlap } from '../../src/core/overlap.ts';
import { createState } from '../../src/core/state.ts';
import type { TeamState } from '../../src/core/state.ts';
import { COMMANDS } from '../samples/commands.ts';
import { commit as commitOf, WORK } from '../samples/work.ts';
import { commandOf, INPUTS } from './stage.ts';
import type { InputOf } from './stage.ts';

/** A command that a caller might send, sensible or not. */
export interface Step {
  readonly type: CommandType;
  readonly by: Actor;
  readonly input: unknown;
  readonly commandId: string | undefined;
}

const member = fc.constantFrom('ann', 'bob', 'cyd');
const anyMember = fc.constantFrom('lead', 'ann', 'bob', 'cyd');
const manager: fc.Arbitrary<Actor> = fc.constantFrom('lead', '@user', '@system');
const anybody: fc.Arbitrary<Actor> = fc.oneof({ weight: 2, arbitrary: manager }, { weight: 3, arbitrary: member });
/** The n-th of those that exist when the command is given. */
const place = fc.nat(11).map((n) => `#${n}`);
const taskId = place;
const taskIds = fc.uniqueArray(taskId, { minLength: 1, maxLength: 3 });
const priority = fc.constantFrom('low', 'medium', 'high', 'critical');
const policy = fc.constantFrom('block', 'proceed', 'fail');
const files = fc.uniqueArray(fc.constantFrom('a', 'b', 'a/*', 'a/**/x', '**', 'b/y.ts'), { maxLength: 2 });
const messageId = fc.integer({ min: 1, max: 12 }).map((n) => `m${n}`);
const session = fc.constantFrom('s1', 's2');
const hookType = fc.constantFrom('TaskCompleted', 'TaskCreated', 'TeammateIdle');
const agent = fc.constantFrom({ kind: 'exec', command: ['true'] }, { kind: 'claude', model: 'm' });
const tags = fc.uniqueArray(fc.constantFrom('x', 'y'), { maxLength: 2 });
const metadata = fc.dictionary(fc.constantFrom('a', 'b', '__x'), fc.constantFrom(null, 1, 'x', [true]), {
  maxKeys: 2,
});
const commit = fc.constantFrom(...[1, 2, 3].map(commitOf));
/** What is named `tip` is the tip of the branch then; `epoch` is the task's, unless it is named. */
const work = record({
  memberId: member,
  epoch: rarely(fc.nat(3)),
  base: commit,
  commit,
  files: fc.nat(2),
  added: fc.nat(9),
  removed: fc.nat(9),
  paths: fc.constantFrom(['a.txt'], ['a.txt'], ['b/c.sql']),
  onto: fc.constantFrom('tip', 'tip', commitOf(2)),
  merged: fc.option(commit, { nil: undefined }),
  conflicts: rarely(fc.constant(['a.txt'])),
});
/** What a holder hands in; `holder` is the task's. */
const submission = {
  memberId: fc.constantFrom('holder', 'holder', 'holder', 'bob'),
  epoch: rarely(fc.nat(3)),
  base: commit,
  commit,
  files: fc.constantFrom(1, 1, 1, 0),
  added: fc.nat(9),
  removed: fc.nat(9),
  paths: fc.constant(['a.txt']),
};
/** The first works of the queue, or of the open landing, as they are there. */
const fromQueue = fc.integer({ min: 1, max: 3 });
const landingId = fc.constantFrom('l1', 'l2');
const seen = { epoch: rarely(fc.nat(3)), revision: rarely(fc.nat(5)) };

/** Two members at work then, if there are two. */
const SOME_SIDES: WorkOverlap['sides'] = [
  { memberId: 'ann', taskId: '1', epoch: 1 },
  { memberId: 'bob', taskId: '2', epoch: 1 },
];

/** How often a command is drawn, its caller and its input. */
type Drawn<T extends CommandType = CommandType> = [
  weight: number,
  by: fc.Arbitrary<Actor>,
  input: fc.Arbitrary<InputOf<T>>,
];

/** Commands whose input varies. The others are drawn like their samples. */
const VARIED: { readonly [T in CommandType]?: Drawn<T> } = {
  'team.update': [
    1,
    manager,
    record({
      description: rarely(fc.constant('new')),
      leadId: rarely(anyMember),
      maxTeammates: rarely(fc.integer({ min: 1, max: 3 })),
      peers: rarely(fc.constantFrom(['beta'], ['beta', 'gamma'], [])),
      status: rarely(fc.constantFrom('active', 'shutting-down')),
      metadata: rarely(metadata),
    }),
  ],
  'team.close': [0.1, manager, record({ force: fc.boolean() })],
  'member.join': [
    6,
    manager,
    record({
      name: anyMember,
      planApprovalRequired: rarely(fc.boolean()),
      agent: fc.option(agent, { nil: undefined }),
      metadata: rarely(metadata),
    }),
  ],
  'member.change': [
    4,
    anybody,
    record({
      memberId: anyMember,
      status: fc.constantFrom(undefined, 'active', 'idle', 'shutting-down'),
      sessionId: rarely(session),
      account: fc.constantFrom(undefined, 'claude', 'codex'),
      result: rarely(fc.constant('done')),
      metadata: rarely(metadata),
    }),
  ],
  'member.leave': [3, anybody, record({ memberId: anyMember, returning: fc.boolean() })],
  'member.place': [2, fc.constant('@system'), record({ memberId: anyMember, hostId: fc.constantFrom('h1', 'h2') })],
  'task.create': [
    9,
    anybody,
    record({
      title: fc.constant('t'),
      priority,
      assigneeId: rarely(anyMember),
      dependencies: fc.uniqueArray(taskId, { maxLength: 2 }),
      files: rarely(files),
      onDependencyFailure: policy,
      metadata: rarely(metadata),
    }),
  ],
  'task.update': [
    4,
    anybody,
    record({
      taskId,
      priority: rarely(priority),
      files: rarely(files),
      onDependencyFailure: rarely(policy),
      metadata: rarely(metadata),
      ...seen,
    }),
  ],
  'task.assign': [4, anybody, record({ taskId, assigneeId: fc.option(anyMember), ...seen })],
  'task.claim': [
    14,
    member,
    record({
      taskId: fc.option(taskId, { nil: undefined }),
      lease: fc.option(fc.constant(60_000), { nil: undefined }),
    }),
  ],
  'task.renew': [4, member, record({ taskId })],
  'task.complete': [
    16,
    anybody,
    fc.oneof(
      record({
        taskId,
        result: rarely(fc.constant('done')),
        refused: rarely(fc.constant(true)),
        accepted: rarely(fc.constant(true)),
        work: rarely(work),
        ...seen,
      }),
      // What the open landing has next.
      record({ lands: fc.constant(true), work: work.map((drawn: object) => ({ ...drawn, onto: 'tip', files: 1 })) }),
    ),
  ],
  'task.reject': [
    5,
    fc.constantFrom<Actor>('@system', '@user', 'lead'),
    record({ taskId, feedback: fc.constant('again'), work: rarely(work), unable: rarely(fc.constant(true)), ...seen }),
  ],
  'task.fail': [4, anybody, record({ taskId, reason: fc.constant('broken'), ...seen })],
  'task.addDependencies': [9, anybody, record({ taskId, dependencies: taskIds })],
  'task.removeDependencies': [3, anybody, record({ taskId, dependencies: taskIds })],
  'work.overlap': [
    4,
    fc.constant('@system'),
    record({
      sides: fc.constant(SOME_SIDES),
      files: fc.nat(2),
      paths: fc.uniqueArray(fc.constantFrom('a.txt', 'b.txt'), { maxLength: 2 }),
      conflicts: fc.uniqueArray(fc.constantFrom('a.txt', 'b.txt'), { maxLength: 1 }),
    }),
  ],
  'work.begin': [
    4,
    anybody,
    record({
      taskId,
      memberId: fc.constantFrom('holder', 'holder', 'ann', 'bob'),
      epoch: rarely(fc.nat(3)),
      base: commit,
    }),
  ],
  'work.submit': [
    16,
    fc.constantFrom<Actor>('ann', '@system', '@system', '@system'),
    record({ taskId, ...submission }),
  ],
  'work.ask': [
    8,
    fc.constantFrom<Actor>('@system', '@system', '@system', 'lead'),
    record({ asks: fc.constant(true), merged: commit }),
  ],
  'work.review': [
    6,
    fc.constantFrom<Actor>('@user', '@user', 'bob'),
    record({ reviews: fc.constant(true), approve: fc.boolean(), summary: rarely(fc.constant('why')) }),
  ],
  'landing.begin': [
    16,
    fc.constantFrom<Actor>('@system', '@system', '@system', 'lead'),
    record({
      landingId,
      hostId: fc.constantFrom('h1', 'h2'),
      onto: fc.constantFrom('tip', 'tip', 'tip', commitOf(2)),
      merged: commit,
      fromQueue,
    }),
  ],
  'tip.move': [
    1,
    fc.constantFrom<Actor>('@user', '@user', 'lead'),
    record({ from: fc.constantFrom('tip', 'tip', commitOf(2)), to: commit, rewritten: rarely(fc.constant(true)) }),
  ],
  'tip.refuse': [1, fc.constant<Actor>('@system'), record({ commit, ref: fc.constant('refs/deleted/alpha/1') })],
  'landing.end': [
    1,
    fc.constant<Actor>('@system'),
    record({ landingId, how: fc.constantFrom('red', 'split', 'dropped'), why: fc.constant('why') }),
  ],
  'message.send': [
    6,
    anybody,
    record({
      messageId,
      toId: anyMember,
      content: fc.constantFrom('hello', 'bye'),
      messageType: rarely(fc.constantFrom('direct', 'system')),
    }),
  ],
  'message.receive': [
    3,
    fc.constantFrom<Actor>('lead@beta', 'ann@beta', 'lead@gamma'),
    record({ messageId, toId: anyMember, content: fc.constantFrom('hello', 'bye') }),
  ],
  'message.broadcast': [3, anybody, record({ messageId, content: fc.constantFrom('hello', 'bye') })],
  'message.deliver': [
    4,
    fc.constant('@system'),
    record({
      memberId: anyMember,
      messageIds: fc.array(place, { minLength: 1, maxLength: 2 }),
      sessionId: session,
      redelivery: fc.boolean(),
    }),
  ],
  'message.acknowledge': [
    4,
    fc.constant('@system'),
    record({ memberId: anyMember, messageIds: fc.array(place, { minLength: 1, maxLength: 1 }) }),
  ],
  'message.read': [
    2,
    fc.constant('@system'),
    record({ memberId: anyMember, messageIds: fc.array(place, { minLength: 1, maxLength: 1 }) }),
  ],
  'shutdown.request': [2, anybody, record({ memberId: anyMember })],
  'shutdown.approve': [2, fc.constant('@system'), record({ requestId: place })],
  'shutdown.reject': [1, fc.constant('@system'), record({ requestId: place })],
  'plan.submit': [2, member, record({ content: fc.constant('plan') })],
  'plan.approve': [2, fc.constant('@user'), record({ requestId: place })],
  'plan.reject': [1, fc.constant('@user'), record({ requestId: place })],
  'request.raise': [
    3,
    fc.constantFrom('@system', 'ann'),
    record({
      kind: fc.constantFrom('gate', 'permission', 'budget', 'restart', 'question', 'question', 'hang', 'account'),
      memberId: anyMember,
      taskId: rarely(taskId),
      content: fc.constantFrom('May I?', 'Which?'),
      question: rarely(
        fc.record({
          choices: fc.constantFrom([], ['a', 'b']),
          freeText: fc.constant(true),
          otherwise: fc.constantFrom('go-on' as const, 'fail' as const),
        }),
      ),
      within: rarely(fc.constant(1000)),
      detail: rarely(metadata),
    }),
  ],
  'request.answer': [
    2,
    fc.constantFrom('@user', '@system'),
    record({
      requestId: place,
      approve: fc.boolean(),
      feedback: rarely(fc.constant('why')),
      choice: rarely(fc.constant('a')),
      grants: rarely(fc.constant(1)),
      revision: rarely(fc.constant('of another')),
    }),
  ],
  'note.add': [4, anybody, record({ text: fc.constantFrom('a', 'b'), tags })],
  'note.update': [
    2,
    anybody,
    record({ noteId: place, text: rarely(fc.constant('c')), tags: rarely(tags), revision: rarely(fc.nat(3)) }),
  ],
  'note.remove': [2, anybody, record({ noteId: place })],
  'hook.register': [2, fc.constantFrom('@user', 'ann'), hookType.map((type) => ({ hook: { type, command: 'true' } }))],
  'hook.remove': [2, fc.constantFrom('@user', 'ann'), record({ hookType })],
  'account.report': [
    2,
    fc.constant('@system'),
    record({
      memberId: anyMember,
      windows: rarely(
        fc.constantFrom([{ name: 'five_hour', used: 0.5 }], [{ name: 'five_hour', used: 1, resetsAt: 1e9 }]),
      ),
      cause: fc.constantFrom(undefined, 'limited', 'overloaded', 'unauthorised'),
      resetsAt: rarely(fc.nat(1e9)),
      worksSince: rarely(fc.nat(1e9)),
    }),
  ],
  'usage.record': [
    2,
    fc.constant('@system'),
    record({
      memberId: anyMember,
      taskId: rarely(taskId),
      usage: record({ inputTokens: fc.nat(9), costUsd: fc.nat(9) }),
    }),
  ],
};

/** A story begins with `team.create` and has no second one. */
const TYPES = (Object.keys(COMMANDS) as CommandType[]).filter((type) => type !== 'team.create');

/** The sample of a command, about any task or member, from a caller that may do this or from a manager. */
function likeSample(type: CommandType): Drawn {
  const { by, input } = COMMANDS[type];
  const { shape }: z.ZodObject = INPUTS[type];
  const varied = {
    ...('taskId' in input && { taskId }),
    ...('memberId' in input && { memberId: anyMember }),
    ...('epoch' in shape && seen),
  };
  const same = Object.entries(input).map(([name, value]) => [name, fc.constant<unknown>(value)]);
  return [4, fc.oneof(fc.constant(by), manager), record({ ...Object.fromEntries(same), ...varied })];
}

const step: fc.Arbitrary<Step> = fc.oneof(
  ...TYPES.map((type) => {
    const [weight, by, input] = VARIED[type] ?? likeSample(type);
    return {
      weight: weight * 10,
      arbitrary: fc.record({
        type: fc.constant(type),
        by,
        input,
        commandId: rarely(fc.integer({ min: 1, max: 20 }).map((n) => `c${n}`)),
      }),
    };
  }),
);

/** A story of a team: commands of all kinds, including ones that are refused. Their number is the time. */
export const steps = (maxLength = 60): fc.Arbitrary<Step[]> => fc.array(step, { maxLength, size: 'max' });

/** Runs apart from the others. */
const OWN_AGENT = { kind: 'exec', command: ['true'] };

/** A person approves what changes some files. */
const APPROVED_WORK = { ...WORK, approve: { paths: ['b/**'] } };

/** The first steps of every story. */
export const OPENING: readonly Step[] = [
  {
    type: 'team.create',
    by: '@user',
    input: { name: 'alpha', maxTeammates: 3, peers: ['beta'], work: APPROVED_WORK },
    commandId: undefined,
  },
  { type: 'member.join', by: 'lead', input: { name: 'ann', agent: OWN_AGENT }, commandId: undefined },
  { type: 'member.join', by: 'lead', input: { name: 'bob' }, commandId: undefined },
  { type: 'task.create', by: 'lead', input: { title: 'first' }, commandId: undefined },
];

/** Two members that work apart hold tasks, and their work waits to land. */
export const QUEUE: readonly Step[] = [
  { type: 'member.join', by: 'lead', input: { name: 'cyd', agent: OWN_AGENT }, commandId: undefined },
  { type: 'task.create', by: 'lead', input: { title: 'second' }, commandId: undefined },
  { type: 'task.claim', by: 'ann', input: { taskId: '#0' }, commandId: undefined },
  { type: 'task.claim', by: 'cyd', input: { taskId: '#1' }, commandId: undefined },
  ...['#0', '#1'].map((taskId): Step => {
    const paths = [taskId === '#0' ? 'a.txt' : 'b/c.sql'];
    const size = { files: 1, added: 1, removed: 0, paths };
    const input = { taskId, memberId: 'holder', base: commitOf(1), commit: commitOf(2), ...size };
    return { type: 'work.submit', by: '@system', input, commandId: undefined };
  }),
];

/** Both works are judged together. Random steps rarely begin such a landing and then bring both to the branch. */
export const LANDING: Step = {
  type: 'landing.begin',
  by: '@system',
  input: { landingId: 'l1', hostId: 'h1', onto: 'tip', merged: commitOf(3), fromQueue: 2 },
  commandId: undefined,
};

/** The command of a step, at its place in the story. */
export function toCommand(state: TeamState, { type, by, input, commandId }: Step, at: number): Command {
  return commandOf(type, resolve(state, input as Named) as InputOf<CommandType>, { by, at, commandId });
}

interface Named {
  readonly taskId?: string;
  readonly dependencies?: readonly string[];
  readonly memberId?: string;
  readonly messageIds?: readonly string[];
  readonly requestId?: string;
  readonly noteId?: string;
  readonly epoch?: number;
  readonly base?: string;
  readonly sides?: WorkOverlap['sides'];
  readonly work?: { readonly epoch?: number; readonly onto?: string };
  readonly onto?: string;
  readonly from?: string;
  /** How many works of the queue a landing names. */
  readonly fromQueue?: number;
  /** Completes the first task of the open landing. */
  readonly lands?: boolean;
  /** Asks about the first work of the open landing. */
  readonly asks?: boolean;
  /** Is about the first work that waits for its approval. */
  readonly reviews?: boolean;
}

/** Replaces numbers by ids. */
function resolve(state: TeamState, drawn: Named): Named {
  const input = ofQueue(state, drawn);
  const { taskId, dependencies, memberId = '', messageIds, requestId, noteId, work: handed, base, epoch } = input;
  const tasks = [...state.tasks.keys()];
  const now = state.tasks.get(pick(tasks, taskId ?? '#0') ?? '')?.epoch ?? 0;
  const inbox = state.index.inboxes.get(memberId)?.ids ?? [];
  return {
    ...input,
    ...(taskId !== undefined && { taskId: pick(tasks, taskId) ?? '99' }),
    ...(dependencies && { dependencies: dependencies.flatMap((id) => pick(tasks, id) ?? []) }),
    ...(messageIds && { messageIds: messageIds.map((id) => pick(inbox, id) ?? 'none') }),
    ...(requestId !== undefined && { requestId: pick([...state.requests.keys()], requestId) ?? 'none' }),
    ...(base !== undefined && { epoch: epoch ?? now }),
    ...(input.sides && { sides: sidesOf(state) }),
    ...(handed?.onto !== undefined && {
      work: {
        ...handed,
        epoch: handed.epoch ?? now,
        onto: handed.onto === 'tip' ? (state.team?.work?.tip ?? '') : handed.onto,
      },
    }),
    ...(noteId !== undefined && { noteId: pick([...state.notes.keys()], noteId) ?? '99' }),
  };
}

function sidesOf({ tasks }: TeamState): WorkOverlap['sides'] {
  const held = [...tasks.values()].filter(({ status }) => status === 'in_progress');
  const sides = held.map(({ id, epoch, assigneeId = '' }) => ({ memberId: assigneeId, taskId: id, epoch }));
  const [one] = sides;
  const other = sides.find(({ memberId }) => memberId !== one?.memberId);
  return one && other ? [one, other] : SOME_SIDES;
}

/** Replaces what is drawn about the merge queue by what is in it. */
function ofQueue(state: TeamState, { fromQueue: count, lands, asks, reviews, ...input }: Named): Named {
  const { tip = '', queue = [], landing } = state.team?.work ?? {};
  if (input.from === 'tip') return { ...input, from: tip };
  const onto = input.onto === 'tip' ? tip : input.onto;
  if (count !== undefined) {
    const ids = queue.length > 0 ? queue.slice(0, count) : ['1'];
    const works = ids.map((id) => {
      const { epoch = 0, work: handed } = state.tasks.get(id) ?? {};
      return { taskId: id, epoch, commit: handed?.commit ?? commitOf(2) };
    });
    return { ...input, onto, works } as Named;
  }
  if (asks) {
    const next = landing?.works.find(({ taskId }) => state.tasks.get(taskId)?.work?.paths?.includes('b/c.sql'));
    const { taskId, ...named } = next ?? landing?.works[0] ?? { taskId: '1', epoch: 1, commit: commitOf(2) };
    const place = [...state.tasks.keys()].indexOf(taskId);
    return { ...input, taskId: `#${Math.max(0, place)}`, ...named, landingId: landing?.id ?? 'l1', onto: tip } as Named;
  }
  if (reviews) {
    const asked = [...state.tasks.values()].find(({ work }) => work?.state === 'asked');
    const place = [...state.tasks.keys()].indexOf(asked?.id ?? '1');
    return { ...input, taskId: `#${Math.max(0, place)}`, commit: asked?.work?.commit ?? commitOf(2) } as Named;
  }
  if (lands) {
    const [next] = landing?.works ?? [];
    const place = [...state.tasks.keys()].indexOf(next?.taskId ?? '1');
    const memberId = state.tasks.get(next?.taskId ?? '1')?.assigneeId ?? 'ann';
    const { taskId: _taskId, ...named } = next ?? { taskId: '1' };
    const handed = { ...input.work, memberId, ...named, landingId: landing?.id ?? 'l1', merged: commitOf(4) };
    return { ...input, taskId: `#${place}`, work: handed };
  }
  if (input.memberId !== 'holder') return input;
  const holder = state.tasks.get(pick([...state.tasks.keys()], input.taskId ?? '#0') ?? '')?.assigneeId;
  return { ...input, memberId: holder ?? 'ann' };
}

function pick(ids: readonly string[], place: string): string | undefined {
  return ids[Number(place.slice(1)) % ids.length];
}

/** Runs steps one after the other; a refused one changes nothing. Returns all events. */
export function play(state: TeamState, story: readonly Step[], from = 0): TeamEvent[] {
  return story.flatMap((one, i) => tryOne(state, toCommand(state, one, from + i)) ?? []);
}

/** Runs a command and applies its events; undefined if it was refused. */
export function tryOne(state: TeamState, command: Command): TeamEvent[] | undefined {
  const events = decideOrRefuse(state, command);
  for (const event of events ?? []) evolve(state, event);
  return events;
}

/** The events that a command would cause; undefined if it is refused. Throws any other error. */
export function decideOrRefuse(state: TeamState, command: Command): TeamEvent[] | undefined {
  try {
    return decide(state, command);
  } catch (error) {
    if (error instanceof TeamError) return undefined;
    throw error;
  }
}

function rarely<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

/** Omits undefined fields, as a caller would. */
function record<T extends object>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<never> {
  return fc
    .record(shape)
    .map((value) => Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined))) as never;
}

/**
 * Plays a story and calls `look` with the state before and after each command; `events` is undefined if it was refused.
 */
export function walk(
  story: readonly Step[],
  look: (before: TeamState, command: Command, events: TeamEvent[] | undefined, after: TeamState) => void,
): void {
  const state = createState('alpha');
  for (const [i, step] of [...OPENING, ...story].entries()) {
    const before = shallowCopy(state);
    const command = toCommand(state, step, i);
    look(before, command, tryOne(state, command), state);
  }
}

/** Copies no records, because these are replaced and never changed. */
function shallowCopy(state: TeamState): TeamState {
  const { members, tasks, messages, requests } = state;
  return {
    ...state,
    members: new Map(members),
    tasks: new Map(tasks),
    messages: new Map(messages),
    requests: new Map(requests),
  };
}
