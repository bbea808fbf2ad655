import { onTestFinished } from 'vitest';
import { USER } from '../../../src/core/actor.ts';
import type { HookResult, TaskCompletedHookContext } from '../../../src/core/hook.ts';
import type { WorkSettings } from '../../../src/core/team-work.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { memoryJournal } from '../../../src/journal/memory.ts';
import type { WorkSaver } from '../../../src/ledger/hand-in.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import type { JudgedFolder } from '../../../src/ledger/task-gate.ts';
import { SharedTaskList } from '../../../src/ledger/task-list.ts';
import type { CompleteOptions } from '../../../src/ledger/task-list.ts';
import type { LandingGit } from '../../../src/runtime/landing/landing.ts';
import { keepQueues } from '../../../src/runtime/landing/queue-keeper.ts';
import { claim, createTask, createTeam, join, run, TEAM } from '../../ledger/commands.ts';
import { openLedger } from '../../ledger/places.ts';
import { verdict } from '../../ledger/task-lists.ts';
import { WORK } from '../../samples/work.ts';
import { Repository } from './repository.ts';
import type { Files } from './repository.ts';

const EXEC = { kind: 'exec', command: ['true'] };

/** What a gate is asked: the files, and where they lie. */
export interface Asked {
  readonly taskId: string;
  readonly taskIds: readonly string[] | undefined;
  readonly files: Files;
  readonly where: 'landing' | 'holder';
}

export interface QueueStageOptions {
  readonly members: readonly string[];
  readonly journal?: Journal;
  readonly repository?: Repository;
  readonly folders?: Map<string, { base: string; files: Files }>;
  readonly hostId?: string;
  readonly gates?: number;
  /** Other settings of the team's work. */
  readonly work?: WorkSettings;
  /** Without it, the queue rests until the test starts it. */
  readonly queueStarts?: boolean;
  /** Whether other daemons are alive. */
  readonly isAlive?: (hostId: string) => boolean;
  /** Whether the team has members on this machine. */
  readonly isNear?: boolean;
  readonly gate?: (asked: Asked) => HookResult | Promise<HookResult>;
  readonly git?: Partial<LandingGit>;
  readonly create?: boolean;
}

/** A team whose members hold a task each, its merge queue, and a repository in memory. */
export async function openQueueStage(options: QueueStageOptions) {
  const { members, journal = memoryJournal(), repository = new Repository(), hostId = 'here', gates } = options;
  const folders = options.folders ?? new Map<string, { base: string; files: Files }>();
  const ledger = openLedger(journal);
  const settings = { ...options.work, ...(gates !== undefined && { gates }) };
  if (options.create !== false) await prepare(ledger, members, settings);
  const asked: Asked[] = [];
  const errors: unknown[] = [];
  const tipNow = (): Promise<string> => ledger.view(TEAM, ({ team }) => team?.work?.tip ?? '');
  const folderOf = (memberId: string) => folders.get(memberId) ?? { base: WORK.base, files: {} };
  const saves = new Map<string, string>();
  const save = (memberId: string): string => {
    const { files } = folderOf(memberId);
    const key = `${memberId} ${JSON.stringify(files)}`;
    const id = saves.get(key) ?? repository.add(files);
    saves.set(key, id);
    return id;
  };

  const works: WorkSaver = {
    save: async ({ memberId }) => ({ base: folderOf(memberId).base, commit: save(memberId) }),
    async measure(_held, saved) {
      const paths = repository.changed(saved.base, saved.commit);
      return { ...saved, files: paths.length, added: paths.length, removed: 0, paths };
    },
    async merge({ memberId, epoch }, { base, commit }) {
      const onto = await tipNow();
      const paths = repository.changed(base, commit);
      const size = { files: paths.length, added: paths.length, removed: 0, paths };
      return { memberId, epoch, base, commit, ...size, onto, ...repository.merge(base, commit, onto) };
    },
    settled: async () => {},
  };
  const git: LandingGit = {
    async mergeOnto(
      _teamId,
      {
        taskId: _task,
        result: _result,
        refused: _refused,
        completer: _by,
        left: _left,
        needsApproval: _needs,
        ...work
      },
      onto,
    ) {
      return { ...work, onto, ...repository.merge(work.base, work.commit, onto) };
    },
    isGone: async () => false,
    explain: async (_teamId, { conflicts = [] }) => `bring together ${conflicts.join()}`,
    publish: async (_teamId, merged) => [...merged],
    checkOut: async (_teamId, merged) => ({ folder: merged, slot: 7 }),
    isHere: () => true,
    isAsHandedIn: async (_teamId, { memberId, commit }) => save(memberId) === commit,
    ...options.git,
  };
  const gate = {
    async executeTaskCompletedHook(context: TaskCompletedHookContext, judged?: JudgedFolder) {
      const memberId = await ledger.view(TEAM, ({ tasks }) => tasks.get(context.taskId)?.assigneeId ?? '');
      const files = judged ? repository.files(judged.folder) : folderOf(memberId).files;
      const where = judged ? 'landing' : 'holder';
      const question: Asked = { taskId: context.taskId, taskIds: context.taskIds, files, where };
      asked.push(question);
      return (await options.gate?.(question)) ?? verdict(0);
    },
    judgesCompletions: async () => options.gate !== undefined,
  };
  const tasks = new SharedTaskList(ledger, { gate, works });
  const isAlive = options.isAlive ?? (() => false);
  const isNear = (): boolean => options.isNear ?? true;
  const onError = (error: unknown): void => void errors.push(error);
  const queues = keepQueues({ ledger, gate, git, hostId, isAlive, isNear, lookEvery: 20, onError });
  if (options.queueStarts !== false) await queues.start();
  onTestFinished(() => {
    queues.close();
    tasks.close();
  });
  const taskOf = (member: string): string => String(members.indexOf(member) + 1);

  return {
    ledger,
    tasks,
    repository,
    folders,
    asked,
    errors,
    queues,
    tipNow,
    taskOf,
    write: (member: string, files: Files, base = folderOf(member).base) =>
      void folders.set(member, { base, files: { ...folderOf(member).files, ...files } }),
    complete: (member: string, more: CompleteOptions = {}) =>
      tasks.completeTask(TEAM, taskOf(member), member, { result: `${member} is done`, ...more }),
    show: (member: string) => tasks.getTask(TEAM, taskOf(member)),
    work: () => ledger.view(TEAM, ({ team }) => team?.work),
    async events(): Promise<string[]> {
      const found: string[] = [];
      for await (const batch of ledger.read(TEAM, 0)) found.push(...batch.events.map(({ type }) => type));
      return found;
    },
  };
}

export type QueueStage = Awaited<ReturnType<typeof openQueueStage>>;

async function prepare(ledger: Ledger, members: readonly string[], settings: WorkSettings): Promise<void> {
  await createTeam(ledger, { members: [] });
  const work = { ...WORK, branch: `troupe/${TEAM}`, ...settings };
  await run(ledger, { type: 'team.update', by: USER, work });
  for (const name of members) {
    await run(ledger, join(name, { agent: EXEC }));
    await createTask(ledger, `Task of ${name}`);
    await run(ledger, claim(name));
  }
}

/** Waits for something that another part of the test lets go on. */
export function latch() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { wait: () => promise, open: () => resolve() };
}
