import { existsSync } from 'node:fs';
import { TeamError } from '../../core/errors.ts';
import { folderOfHook } from '../../core/folder.ts';
import type { Apart } from '../../core/folder.ts';
import type { HookConfig, HookResult, HookType } from '../../core/hook.ts';
import type { Variables } from '../../core/variables.ts';
import type { Semaphore } from '../semaphore.ts';
import type { HookContext } from './payload.ts';
import { runFunction } from './run-function.ts';
import type { RegisteredFunction } from './run-function.ts';
import { runHook } from './run-hook.ts';
import type { RunHookOptions } from './run-hook.ts';
import { hookEnvironment } from './run-program.ts';
import { ALLOWED } from './verdict.ts';

/** A hook that ran, and the task that it judged. */
export interface HookRun {
  readonly teamId: string;
  readonly type: HookType;
  readonly taskId?: string | undefined;
  /** All tasks whose work it judged together. */
  readonly taskIds?: readonly string[] | undefined;
  readonly result: HookResult;
}

/** What running hooks needs from the daemon. */
export interface RunHooksOptions extends RunHookOptions {
  /** The environment of a team's hooks. */
  readonly environmentOf: (teamId: string) => Variables;
  /** The folder of a hook that names none and judges nobody's work. */
  readonly cwd: string;
  /** Called after every run of a hook. */
  readonly onRun?: (run: HookRun) => void;
  /** Limits how many programs run at once. */
  readonly places: Semaphore;
  /** The programs that run. */
  readonly running: Set<Promise<unknown>>;
}

/** The hooks of a team that judge one thing. */
export interface HooksToRun {
  readonly type: HookType;
  readonly context: HookContext;
  readonly about: Readonly<Record<string, string>>;
  readonly functions: readonly RegisteredFunction[];
  readonly hooks: readonly HookConfig[];
  readonly payload: object;
  /** The folder of the work that is judged. */
  readonly work?: string | undefined;
  /** Its workspace, in place of the team's folder. */
  readonly apart?: Apart | undefined;
  /** Content of hooks that a person agreed to. */
  readonly agreed?: ReadonlySet<unknown> | undefined;
}

/** Runs hooks one after another; the first rejection ends it. */
export async function runHooks(asked: HooksToRun, options: RunHooksOptions): Promise<HookResult> {
  const { type, context, functions, hooks } = asked;
  const { teamId, taskId, taskIds }: Omit<HookRun, 'type' | 'result'> = context;
  const judged = { teamId, type, taskId, taskIds };
  let last = ALLOWED;
  let accepted = false;
  for (const judge of functions) {
    last = await runFunction(judge, context);
    options.onRun?.({ ...judged, result: last });
    if (last.exitCode === 2) return last;
    accepted ||= last.exitCode === 0;
  }
  for (const hook of hooks) {
    const inside = placeOf(hook, asked, options);
    const tries = hook.flaky ? 2 : 1;
    for (let time = 1; time <= tries; time++) {
      const result = await options.places.run(() => noted(options.running, runHook(hook, inside, options)));
      last = { ...result, command: hook.command };
      // It was ended in the middle.
      if (options.signal.aborted) throw new TeamError('storage', `The daemon is stopping: nothing was judged`);
      options.onRun?.({ ...judged, result: last });
      if (last.exitCode !== 2 || last.unable !== undefined) break;
    }
    if (last.exitCode === 2) return last;
    accepted ||= last.exitCode === 0;
  }
  return { ...last, accepted };
}

async function noted<R>(running: Set<Promise<unknown>>, run: Promise<R>): Promise<R> {
  running.add(run);
  return run.finally(() => running.delete(run));
}

/** Where and with what a hook runs. Its approval is about the folder of the team, not about a workspace. */
function placeOf(
  hook: HookConfig,
  { type, context: { teamId }, about, payload, work, apart, agreed }: HooksToRun,
  { environmentOf, cwd: fallback }: RunHooksOptions,
) {
  const env = hookEnvironment(environmentOf(teamId), { TEAM_ID: teamId, EVENT: type, ...about }, hook.env);
  const cwd = folderOfHook(hook, { work, fallback, apart });
  const approvedIn = folderOfHook(hook, { work, fallback });
  const named = apart && !existsSync(approvedIn) ? { ...apart, to: apart.folders[0] ?? '' } : undefined;
  const realName = named && folderOfHook(hook, { work, fallback, apart: named });
  return { teamId, env, payload, cwd, approvedIn, realName, agreed };
}
