import { feedbackOf } from '../../core/hook.ts';
import type { HookResult, HookType } from '../../core/hook.ts';
import type { Log } from '../log.ts';

/** How much output of a failed hook is logged, in characters: enough to fix it without filling the log. */
const SAID_CHARS = 500;

/** Logs the result of each run of a hook. */
export function logRuns(log: Log): (run: { teamId: string; type: HookType; result: HookResult }) => void {
  return ({ teamId, type, result: { stderr, stdout, ...result } }) => {
    const said = feedbackOf({ stderr, stdout }).slice(0, SAID_CHARS);
    const hasFailed = result.exitCode === 1 || result.unable !== undefined;
    if (hasFailed) log.warn('hook.failed', { teamId, type, ...result, said });
    else log.info('hook.ran', { teamId, type, ...result });
  };
}
