import type { HookConfig, HookResult } from '../../core/hook.ts';

/** The result if there is no hook. */
export const ALLOWED: HookResult = { exitCode: 0, stdout: '', stderr: '', duration: 0, timedOut: false };

/** A hook that may not run has failed. The member whose work it judges cannot fix that. */
export function refuse({ onFailure }: Pick<HookConfig, 'onFailure'>, unable: string): HookResult {
  return { ...ALLOWED, exitCode: onFailure === 'block' ? 2 : 1, stderr: unable, unable };
}

/** Applies `onFailure` to the result of a failed hook. */
export function applyPolicy(hook: Pick<HookConfig, 'timeout' | 'onFailure'>, result: HookResult): HookResult {
  if (result.exitCode !== 1 || hook.onFailure === 'allow') return result;
  const why = result.timedOut ? `did not answer within ${hook.timeout} ms` : 'failed';
  return { ...result, exitCode: 2, stderr: `The gate ${why}, and it blocks when it fails.\n${result.stderr}`.trim() };
}
