import { existsSync } from 'node:fs';
import type { z } from 'zod';
import { USER } from '../../core/actor.ts';
import { folderOfHook, folderOfMember, folderOfWork } from '../../core/folder.ts';
import { feedbackOf, HookConfig } from '../../core/hook.ts';
import type {
  HookResult,
  HookType,
  TaskCompletedHookContext,
  TaskCreatedHookContext,
  TeammateIdleHookContext,
} from '../../core/hook.ts';
import { parse } from '../../core/parse.ts';
import type { TeamRecord, TeamState } from '../../core/state.ts';
import { requireTeam } from '../../core/view.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { JudgedFolder } from '../../ledger/task-gate.ts';
import { teamFolder } from '../home.ts';
import { Semaphore } from '../semaphore.ts';
import { realPath } from '../team-file/place.ts';
import type { TeamWorks } from '../work/team-works.ts';
import { nameOfHook } from './approvals.ts';
import type { Approvals } from './approvals.ts';
import { filesOfHook } from './hook-files.ts';
import { findObstacle } from './obstacle.ts';
import { judgedMember, payloadFor } from './payload.ts';
import type { HookContext } from './payload.ts';
import type { FunctionOptions, HookFunction, RegisteredFunction } from './run-function.ts';
import { runHooks } from './run-hooks.ts';
import type { HooksToRun, RunHooksOptions } from './run-hooks.ts';

/** A task that is about to be created, with its future number. */
export interface NewTask {
  readonly taskId: string;
  readonly title: string;
  readonly description: string;
}

/** What hooks need from the daemon. */
export interface TeamHooksOptions extends Omit<RunHooksOptions, 'places' | 'running' | 'signal'> {
  /** The parent of the teams' own folders. */
  readonly folders?: string;
  /** The members' own workspaces. */
  readonly works?: Works;
}

type Works = Pick<TeamWorks, 'folderOf' | 'slotOf'>;

/** How many programs run at once; judging takes time, and 200 completions may come together. */
const AT_ONCE = 4;

/** More than all members of several of the largest teams need at once; further callers must retry. */
const WAITING = { most: 1_000, of: 'hooks' };

/** A hook that waits for approval: its folder, and the files that the approval covers. */
export interface UnapprovedHook {
  readonly type: HookType;
  readonly command: string;
  readonly hash: string;
  readonly folder: string;
  readonly files: string[];
  /** The names of the user's variables that it sees. */
  readonly env: string[];
  /** Other content of it was approved before. */
  readonly changed: boolean;
  /** The files that changed since, as far as that is known. */
  readonly changedFiles: string[];
}

/**
 * Quality gates. They run in the daemon, with nothing locked and a minimal environment, so that no agent can skip or
 * bend them. Exit code 0 allows, 2 rejects with feedback. Any other is a failure of the hook, which allows unless the
 * hook says `onFailure: block`.
 */
export class TeamHooks {
  readonly #ledger: Ledger;
  readonly #options: TeamHooksOptions;
  readonly #functions = new Map<string, RegisteredFunction[]>();
  readonly #places = new Semaphore(AT_ONCE, WAITING);
  readonly #running = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();

  constructor(ledger: Ledger, options: TeamHooksOptions) {
    this.#ledger = ledger;
    this.#options = options;
  }

  /**
   * Ends the hooks that run, and resolves when they have ended, to the last descendant: they must not outlive the daemon.
   * Whoever waits for a verdict gets `storage` and asks the next daemon.
   */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
  }

  /** What people approved, hooks and agents. */
  get approvals(): Approvals {
    return this.#options.approvals;
  }

  /** Registers a program as a hook; it becomes part of the team. */
  async registerHook(
    teamId: string,
    config: z.input<typeof HookConfig>,
    once: { readonly commandId?: string } = {},
  ): Promise<void> {
    const hook = parse(HookConfig, config);
    await this.#ledger.execute(teamId, { type: 'hook.register', by: USER, ...once, hook }, () => undefined);
  }

  /** Registers a function of this process as a hook, while the process lives. */
  registerFunction(
    teamId: string,
    type: HookType,
    run: HookFunction,
    { timeout = 120_000, onFailure = 'allow' }: FunctionOptions = {},
  ): void {
    const key = `${teamId} ${type}`;
    this.#functions.set(key, [...(this.#functions.get(key) ?? []), { run, timeout, onFailure }]);
  }

  /** The hooks among these that come from a checkout and are not approved with their present content. */
  unapproved(hooks: readonly HookConfig[]): UnapprovedHook[] {
    const { approvals } = this.#options;
    return hooks.flatMap((hook) => {
      const { type, command, approved: hash, env = [] } = hook;
      if (hash === undefined || approvals.has(hash)) return [];
      const folder = this.#folderOf(hook);
      const files = [...filesOfHook(hook, folder).keys()];
      const changedFiles = approvals.changed(nameOfHook(hook), folder, files);
      const changed = approvals.knew(nameOfHook(hook), folder);
      return { type, command, hash, folder, files, env, changed, changedFiles };
    });
  }

  /** The hooks among these whose program is missing or not executable, each with its fix. */
  broken(hooks: readonly HookConfig[]): { type: HookType; command: string; why: string }[] {
    return hooks.flatMap((hook) => {
      const why = findObstacle(hook, this.#folderOf(hook));
      return why === undefined ? [] : { type: hook.type, command: hook.command, why };
    });
  }

  /** Records a person's approval. */
  approve(hooks: readonly HookConfig[]): void {
    for (const hook of hooks) {
      if (hook.approved === undefined) continue;
      const folder = this.#folderOf(hook);
      this.#options.approvals.add(hook.approved, nameOfHook(hook), folder, [...filesOfHook(hook, folder).keys()]);
    }
  }

  getRegisteredHooks(teamId: string): Promise<HookConfig[]> {
    return this.#ledger.view(teamId, (state) => requireTeam(state).hooks);
  }

  /** Removes the hooks of a type; returns whether there were any. */
  async removeHook(teamId: string, hookType: HookType): Promise<boolean> {
    const functions = this.#functions.delete(`${teamId} ${hookType}`);
    const command = { type: 'hook.remove', by: USER, hookType } as const;
    return this.#ledger.execute(teamId, command, (_state, events) => events.length > 0 || functions);
  }

  executeTeammateIdleHook(context: TeammateIdleHookContext): Promise<HookResult> {
    return this.#execute('TeammateIdle', context, {
      MEMBER_ID: context.memberId,
      MEMBER_NAME: context.memberName,
      COMPLETED_TASKS: context.completedTaskIds.join(','),
      REMAINING_TASKS: String(context.remainingTasks),
    });
  }

  /** Judges in the workspace of the member, or in another one that has its work merged. */
  executeTaskCompletedHook(context: TaskCompletedHookContext, merged?: JudgedFolder): Promise<HookResult> {
    const about = {
      TASK_ID: context.taskId,
      ...(context.taskIds && { TASK_IDS: context.taskIds.join(',') }),
      COMPLETED_BY: context.completedBy,
      MEMBER_NAME: context.memberName,
      TASK_DURATION: String(Math.round(context.duration)),
      DEPENDENT_TASKS: context.dependentTaskIds.join(','),
    };
    return this.#execute('TaskCompleted', context, about, merged);
  }

  judgesNewTasks(teamId: string): Promise<boolean> {
    return this.#judges(teamId, 'TaskCreated');
  }

  judgesCompletions(teamId: string): Promise<boolean> {
    return this.#judges(teamId, 'TaskCompleted');
  }

  async #judges(teamId: string, wanted: HookType): Promise<boolean> {
    if (this.#functions.has(`${teamId} ${wanted}`)) return true;
    return this.#ledger.view(teamId, (state) =>
      requireTeam(state).hooks.some(({ type, enabled }) => type === wanted && enabled),
    );
  }

  executeTaskCreatedHook(context: TaskCreatedHookContext): Promise<HookResult> {
    return this.#execute('TaskCreated', context, { TASK_ID: context.taskId, CREATED_BY: context.createdBy });
  }

  /** Asks the hooks about tasks before they are created; returns the rejected ones with the feedback. */
  async judgeNewTasks(
    teamId: string,
    { hooks, tasks, createdBy }: { hooks: readonly HookConfig[]; tasks: readonly NewTask[]; createdBy: string },
  ): Promise<(NewTask & { feedback: string })[]> {
    const type = 'TaskCreated';
    const asked = hooks.filter(isForNewTasks);
    const verdicts = tasks.map(async (task) => {
      const context = { teamId, taskId: task.taskId, taskTitle: task.title, createdBy };
      const about = { TASK_ID: task.taskId, CREATED_BY: createdBy };
      const payload = {
        hook_event_name: type,
        task_id: task.taskId,
        task_subject: task.title,
        task_description: task.description,
        team_name: teamId,
        context,
      };
      const verdict = await this.#run(type, { context, about, hooks: asked, payload });
      return verdict.exitCode === 2 ? [{ ...task, feedback: feedbackOf(verdict) || 'no reason given' }] : [];
    });
    return (await Promise.all(verdicts)).flat();
  }

  async #execute(
    type: HookType,
    context: HookContext,
    about: Record<string, string>,
    merged?: JudgedFolder,
  ): Promise<HookResult> {
    const { folders } = this.#options;
    const works: Works | undefined = merged
      ? { folderOf: () => merged.folder, slotOf: () => merged.slot }
      : this.#options.works;
    const own = folders === undefined ? undefined : teamFolder({ folders }, context.teamId);
    const { hooks, payload, work, apart, slot, agreed } = await this.#ledger.view(context.teamId, (state) => {
      const team = requireTeam(state);
      const member = judgedMember(state, context);
      const apart = works && member && workspaceOf(works, state, member.id);
      return {
        hooks: team.hooks.filter((hook) => hook.type === type && hook.enabled),
        payload: payloadFor(state, { type, context, own, works }),
        agreed: agreedIn(state),
        work: folderOfMember(member, own, apart?.folder),
        apart: apart && { folders: namesOfFolder(team), to: apart.folder },
        slot: apart?.slot,
      };
    });
    const names = slot === undefined ? about : { ...about, SLOT: String(slot) };
    return this.#run(type, { context, about: names, hooks, payload, work, apart, agreed });
  }

  #run(type: HookType, run: Omit<HooksToRun, 'type' | 'functions'>): Promise<HookResult> {
    const functions = this.#functions.get(`${run.context.teamId} ${type}`) ?? [];
    const options = { ...this.#options, places: this.#places, running: this.#running, signal: this.#closing.signal };
    return runHooks({ ...run, type, functions }, options);
  }

  #folderOf(hook: HookConfig): string {
    return folderOfHook(hook, { fallback: this.#options.cwd });
  }
}

/** The workspace of a member, and its number; undefined if it has none. */
function workspaceOf(works: Works, state: TeamState, memberId: string): JudgedFolder | undefined {
  const folder = works.folderOf(state, memberId);
  return folder === undefined ? undefined : { folder, slot: works.slotOf({ teamId: state.teamId, memberId }) };
}

/** The team's folder: as git names it, and as the person who started the team did. */
function namesOfFolder({ work, metadata }: TeamRecord): string[] {
  if (!work) return [];
  const own = folderOfWork(work);
  const given = metadata?.['folder'];
  if (typeof given !== 'string') return [own];
  // On another machine than the person's, neither exists.
  return realPath(given) === own || !existsSync(given) ? [own, given] : [own];
}

/** The content of hooks that a person approved by accepting the work that changes them. All machines know it. */
function agreedIn({ requests }: TeamState): Set<unknown> {
  const agreed = [...requests.values()].filter(
    ({ kind, status, answeredBy }) => kind === 'gate' && status === 'approved' && answeredBy === USER,
  );
  return new Set(agreed.map(({ detail }) => detail?.['approves']));
}

/** Whether a hook judges new tasks. */
export function isForNewTasks({ type, enabled }: HookConfig): boolean {
  return type === 'TaskCreated' && enabled;
}
