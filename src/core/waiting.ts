import type { Metadata } from './json.ts';

/** What a member waits for besides tasks and answers, where somebody said so: an overloaded model, a machine that may run it. */
export function waitingOf({ metadata }: { metadata?: Metadata | undefined }): string | undefined {
  const waiting = metadata?.['waiting'];
  const isSaid = typeof waiting === 'object' && waiting !== null && 'reason' in waiting;
  return isSaid ? String(waiting['reason']) : undefined;
}

/** Whether a member went with the only machine that may run it: it comes back when that does. */
export function isLost(member: {
  readonly status: string;
  readonly returning?: boolean | undefined;
  readonly host?: string | undefined;
  readonly metadata?: Metadata | undefined;
}): boolean {
  const { status, returning, host } = member;
  return status === 'stopped' && returning === true && host !== undefined && waitingOf(member) !== undefined;
}
