import { troubleOfStatus, troubleOfText } from '../../core/trouble.ts';
import type { Trouble } from '../../core/trouble.ts';
import type { LimitWindow, TurnEnd } from '../agent.ts';
import type { RateLimits } from './protocol.ts';

/** The windows that a report names. It follows every model call, and without a login all its fields are null. */
export function windowsOf({ primary, secondary }: RateLimits): LimitWindow[] {
  return Object.entries({ primary, secondary }).flatMap(([name, window]) => {
    if (typeof window?.usedPercent !== 'number') return [];
    const { usedPercent, resetsAt } = window;
    return [{ name, used: usedPercent / 100, ...(typeof resetsAt === 'number' && { resetsAt: resetsAt * 1_000 }) }];
  });
}

/** When all windows that are used up have begun again; undefined if none is, or one does not say. */
function resetOf(windows: Iterable<LimitWindow>): number | undefined {
  const resets = [...windows].filter(({ used }) => used >= 1).map(({ resetsAt }) => resetsAt);
  return resets.length === 0 || resets.includes(undefined) ? undefined : Math.max(...(resets as number[]));
}

/** Codex's names for errors that are not the work's fault. */
const KINDS: Readonly<Record<string, Trouble>> = {
  usageLimitExceeded: 'limited',
  rateLimitExceeded: 'overloaded',
  serverOverloaded: 'overloaded',
  unauthorized: 'unauthorised',
  contextWindowExceeded: 'context',
  cyberPolicy: 'refused',
  bioPolicy: 'refused',
  misalignmentPolicyViolation: 'refused',
  // With an HTTP status they say more; without one, the connection broke.
  httpConnectionFailed: 'overloaded',
  responseStreamConnectionFailed: 'overloaded',
  responseStreamDisconnected: 'overloaded',
  responseTooManyFailedAttempts: 'overloaded',
};

/** Why a turn failed: by its name, by the HTTP status in it, at last by its words. */
export function troubleIn(
  { message, codexErrorInfo: info }: { message: string; codexErrorInfo?: unknown },
  windows: Iterable<LimitWindow>,
): Pick<TurnEnd, 'trouble' | 'resetsAt'> {
  const trouble = troubleOf(info) ?? troubleOfText(message);
  if (trouble !== 'limited') return trouble ? { trouble } : {};
  const resetsAt = resetOf(windows);
  return { trouble, ...(resetsAt !== undefined && { resetsAt }) };
}

function troubleOf(info: unknown): Trouble | undefined {
  if (typeof info === 'string') return KINDS[info];
  if (typeof info !== 'object' || info === null) return undefined;
  for (const [kind, facts] of Object.entries(info)) {
    const status = (facts as { httpStatusCode?: unknown } | null)?.httpStatusCode;
    const trouble = troubleOfStatus(status) ?? (typeof status === 'number' ? undefined : KINDS[kind]);
    if (trouble) return trouble;
  }
  return undefined;
}
