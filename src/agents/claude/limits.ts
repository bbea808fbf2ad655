import type { Trouble } from '../../core/trouble.ts';
import { troubleOfStatus, troubleOfText } from '../../core/trouble.ts';
import type { LimitWindow, TurnEnd } from '../agent.ts';
import type { RateLimit, Result } from './lines.ts';

/**
 * The windows of the account. Only the used share counts: `allowed_warning` also comes when use runs ahead of time, and a
 * window that is `rejected` says nothing while paid overage serves. Versions before 2.1.3 name only one window, and
 * without its share unless that is all of it.
 */
export function windowsOf({ status, rateLimitType, resetsAt, utilization, unifiedWindows }: RateLimit): LimitWindow[] {
  if (unifiedWindows) {
    return Object.entries(unifiedWindows).flatMap(([name, window]) =>
      typeof window?.utilization === 'number' ? [windowOf(name, window.utilization, window.resetsAt)] : [],
    );
  }
  const used = utilization ?? (status === 'rejected' ? 1 : undefined);
  return rateLimitType && used !== undefined ? [windowOf(rateLimitType, used, resetsAt)] : [];
}

function windowOf(name: string, used: number, resetsAt: number | null | undefined): LimitWindow {
  return { name, used, ...(typeof resetsAt === 'number' && { resetsAt: resetsAt * 1_000 }) };
}

/** What Claude Code told during a turn, besides its result. */
export interface Hints {
  /** The kind of error of the last message that it wrote itself. */
  error?: string | undefined;
  /** The last report about the account's limits. */
  limit?: RateLimit | undefined;
  /** How the model's last message ended. */
  stopReason?: string | undefined;
  /** How often in a row the model did not accept the login, although Claude Code tries again. */
  denied?: number | undefined;
}

/** Claude Code may get another token after the first denial; after the second nobody but a person can help. */
const DENIALS = 2;

/**
 * Whether the model does not accept the login. With an API key, Claude Code would try for three more minutes, ten times in
 * all, before it says so.
 */
export function isDenied({ denied = 0 }: Hints): boolean {
  return denied >= DENIALS;
}

/** Claude Code's names for errors of the account. Others say too little. */
const KINDS: Readonly<Record<string, Trouble>> = {
  authentication_failed: 'unauthorised',
  oauth_org_not_allowed: 'unauthorised',
  billing_error: 'limited',
  overloaded: 'overloaded',
};

/** Why a turn failed, if the work is not to blame. `subtype` and the wording differ between versions. */
export function troubleIn(result: Result | undefined, hints: Hints): Pick<TurnEnd, 'trouble' | 'resetsAt'> {
  const status = result?.api_error_status;
  const isLimit = hints.limit?.status === 'rejected' || result?.api_error === 'usage_limit_reached';
  if (isLimit && (status === 429 || hints.error === 'rate_limit')) {
    const resetsAt = hints.limit?.resetsAt;
    return { trouble: 'limited', ...(typeof resetsAt === 'number' && { resetsAt: resetsAt * 1_000 }) };
  }
  const trouble = KINDS[hints.error ?? ''] ?? troubleOfStatus(status) ?? troubleOfText(textOf(result));
  return trouble ? { trouble } : {};
}

/** Only what it reports as an error of the model: the text of a result is otherwise the model's own. */
function textOf(result: Result | undefined): string {
  const isOfModel = result?.terminal_reason === 'api_error' || typeof result?.api_error_status === 'number';
  return isOfModel ? (result?.result ?? '') : '';
}
