import { troubleOfStatus, troubleOfText } from '../../core/trouble.ts';
import type { Trouble } from '../../core/trouble.ts';
import type { TurnEnd } from '../agent.ts';

/** How an agent refuses a prompt. */
export interface Refusal {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** What a refusal says about the account or the conversation. */
export type Explained = Pick<TurnEnd, 'trouble' | 'resetsAt'>;

/** ACP's code for a session without a login. */
const LOGIN_NEEDED = -32_000;

/** What a refusal says, for any agent: by the model's status in its code, at last by its words. */
export function troubleIn({ code, message, data }: Refusal): Explained | undefined {
  const trouble =
    code === LOGIN_NEEDED ? 'unauthorised' : (troubleOfStatus(code) ?? troubleOfText(said(message, data)));
  return trouble && { trouble };
}

/** The names of OpenCode's errors. An `APIError` can be anything that a provider says, and its words decide. */
const OPENCODE: Readonly<Record<string, Trouble>> = {
  ProviderAuthError: 'unauthorised',
  ContextOverflowError: 'context',
};

/** OpenCode passes on only the provider's sentence, under the name of its own error. */
export function openCodeTrouble(refusal: Refusal): Explained | undefined {
  const { errorName } = (refusal.data ?? {}) as { errorName?: unknown };
  const trouble = OPENCODE[typeof errorName === 'string' ? errorName : ''];
  if (trouble) return { trouble };
  return errorName === 'APIError' ? troubleIn(refusal) : undefined;
}

/** How long Gemini says one has to wait: "Please retry in 3h2m1.5s", or `"retryDelay":"34s"` in the quoted error. */
const WAIT = /(?:retry(?:Delay"?:)?(?: in| after)?|reset after) *"?((?:\d+(?:\.\d+)?(?:ms|[hms]))+)/i;
const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

/** Gemini's status for a limit and for an overload is 429: a day's limit is named in the quoted quota. */
export function geminiTrouble(refusal: Refusal, now: () => number = Date.now): Explained | undefined {
  const text = said(refusal.message, refusal.data);
  if (refusal.code !== 429) return troubleIn(refusal);
  const isDay = /per_?day|daily/i.test(text);
  const waitMs = durationIn(text);
  // Gemini CLI itself waits at most five minutes.
  if (!isDay && waitMs === undefined) return { trouble: 'overloaded' };
  return { trouble: 'limited', ...(waitMs !== undefined && { resetsAt: now() + waitMs }) };
}

function durationIn(text: string): number | undefined {
  const [, duration] = WAIT.exec(text) ?? [];
  if (duration === undefined) return undefined;
  const parts = [...duration.matchAll(/(\d+(?:\.\d+)?)(ms|[hms])/g)];
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
}

function said(message: string, data: unknown): string {
  return data === undefined || data === null ? message : `${message} ${JSON.stringify(data)}`;
}
