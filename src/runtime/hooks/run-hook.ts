import type { HookConfig, HookResult } from '../../core/hook.ts';
import { quote } from '../../core/text.ts';
import type { ProcessRecords } from '../process-records.ts';
import { differing, digestFiles, hashHook, nameChanged, nameFiles, nameOfHook } from './approvals.ts';
import type { Approvals } from './approvals.ts';
import { filesOfHook } from './hook-files.ts';
import { findObstacle, whyNotRun } from './obstacle.ts';
import { commandOf, runProgram } from './run-program.ts';
import { applyPolicy, refuse, refuseChanged, refuseToRun } from './verdict.ts';
import { withSandbox } from './with-sandbox.ts';

/** What running a hook needs from the daemon. */
export interface RunHookOptions {
  readonly approvals: Approvals;
  /** Milliseconds between SIGTERM and SIGKILL after a timeout. */
  readonly grace?: number;
  /** The records of this daemon's processes. */
  readonly records: Pick<ProcessRecords, 'newId' | 'write' | 'remove'>;
  /** Aborts to end hooks that run; their verdicts do not count. */
  readonly signal: AbortSignal;
}

/** One run of a hook. */
interface HookInput {
  readonly teamId: string;
  readonly env: Readonly<Record<string, string>>;
  readonly payload: object;
  readonly cwd: string;
  /** The folder that it was approved for; in a workspace, another one than `cwd`. */
  readonly approvedIn: string;
  /** Its real name, if it is on another machine. */
  readonly realName?: string | undefined;
  /** Content that a person agreed to, together with the work that brought it. */
  readonly agreed?: ReadonlySet<unknown> | undefined;
}

/** Runs a hook's program. Keeps a record meanwhile: if it outlives this process, the next daemon ends it. */
export async function runHook(hook: HookConfig, input: HookInput, options: RunHookOptions): Promise<HookResult> {
  const { records } = options;
  const marker = records.newId('hook');
  try {
    records.write({ id: marker, teamId: input.teamId, startedAt: new Date().toISOString() });
    return await runApproved(hook, { ...input, marker }, options);
  } catch (error) {
    return refuseToRun(hook, (error as Error).message);
  } finally {
    records.remove(marker);
  }
}

async function runApproved(
  hook: HookConfig,
  { env, payload, cwd, approvedIn, realName, agreed, marker }: HookInput & { readonly marker: string },
  { approvals, grace, signal }: RunHookOptions,
): Promise<HookResult> {
  const obstacle = findObstacle(hook, cwd);
  if (obstacle !== undefined) return refuseToRun(hook, obstacle);
  const isBound = hook.approved !== undefined;
  const mend = `read it, then run troupe up in ${approvedIn} to approve it again`;
  const content = isBound ? hashHook(hook, cwd, { approvedIn, realName }) : undefined;
  if (content !== undefined && content !== hook.approved && !approvals.has(content) && !agreed?.has(content)) {
    const isHere = cwd === approvedIn;
    const which = isHere
      ? nameFiles(approvals.changed(nameOfHook(hook), cwd, [...filesOfHook(hook, cwd).keys()]), cwd)
      : nameChanged((folder) => filesOfHook(hook, folder), { cwd, approvedIn });
    const what = `The hook ${quote(hook.command)} changed since it was approved${which} and was not run`;
    if (!isHere) return refuseChanged(`${what}. Read it in ${cwd}.`, content);
    return refuse(hook, `${what}: ${mend}`);
  }
  const before = isBound ? digestFiles(filesOfHook(hook, cwd)) : [];
  const { timeout, sandbox } = hook;
  const result = await withSandbox(sandbox, { command: commandOf(hook), cwd, env }, (start) =>
    runProgram({ ...start, timeout, grace, payload, marker, signal }),
  );
  // A shell reads its script as it runs: the judged member could rewrite the rest of it meanwhile.
  if (isBound && hashHook(hook, cwd, { approvedIn, realName }) !== content) {
    const which = nameFiles(differing(before, digestFiles(filesOfHook(hook, cwd))), cwd);
    return refuse(
      hook,
      `The hook ${quote(hook.command)} was changed while it ran${which}, so its verdict does not count: ${mend}. ` +
        'If the hook itself writes what its command names, let it write outside of the project',
    );
  }
  const unable = whyNotRun(result);
  return unable === undefined ? applyPolicy(hook, result) : { ...result, ...refuseToRun(hook, unable) };
}
