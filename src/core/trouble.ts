import { z } from 'zod';

/**
 * Why a turn failed although its work is not to blame:
 *
 * - `limited`: the account has used up what it may use;
 * - `overloaded`: the model's servers are busy or cannot be reached;
 * - `unauthorised`: the login is missing, expired or wrong;
 * - `context`: the conversation is too long for the model;
 * - `refused`: the model will not do it.
 */
export const Trouble = z.enum(['limited', 'overloaded', 'unauthorised', 'context', 'refused']);
export type Trouble = z.infer<typeof Trouble>;

/** Why no turn begins on an account: its limit is reached, its servers are busy, or nobody is logged in. */
export const AccountCause = z.enum(['limited', 'overloaded', 'unauthorised']);
export type AccountCause = z.infer<typeof AccountCause>;

/** Too many requests, Anthropic's own status for an overloaded model, and servers that are not there. */
const BUSY: readonly unknown[] = [408, 429, 502, 503, 504, 529];

/** What a model's HTTP status says; undefined if it says nothing about the account or the conversation. */
export function troubleOfStatus(status: unknown): Trouble | undefined {
  if (BUSY.includes(status)) return 'overloaded';
  if (status === 401) return 'unauthorised';
  return status === 413 ? 'context' : undefined;
}

/**
 * The words of providers and their libraries, for errors without a status. Only for texts that are known to be errors of
 * a model: a program's own output may contain any of these. The order matters: "rate limit exceeded: too many tokens".
 */
const WORDS: readonly (readonly [Trouble, RegExp])[] = [
  [
    'unauthorised',
    /api key not valid|(invalid|incorrect|missing)[\w -]*api.?key|api key (is )?missing|unauthori[sz]ed/i,
  ],
  ['unauthorised', /authentication[_ ](error|failed|required)|not logged in|run \/login|sign in again/i],
  ['limited', /insufficient_quota|usage limit|exceeded your (current|monthly|daily) |credit balance is too low/i],
  ['overloaded', /overloaded|rate.?limit|too many requests|exhausted|service unavailable/i],
  ['context', /(prompt|input|conversation|request)[\w ]* (is )?too (long|large)|context[_ ](length|window)/i],
  ['context', /maximum (number of|context) |exceeds? the (maximum|context)|maximum prompt length/i],
  ['overloaded', /ECONN(REFUSED|RESET|ABORTED)|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|socket hang up|fetch failed/],
  ['overloaded', /connection (error|refused|reset|closed|failed|was)|unable to connect|cannot connect|timed out/i],
];

/** What the text of a model's error says. */
export function troubleOfText(text: string): Trouble | undefined {
  return WORDS.find(([, words]) => words.test(text))?.[0];
}
