import type { Metadata } from './json.ts';

/** What a member waits for besides tasks and answers, if recorded: an overloaded model, a machine to run on. */
export function waitingOf({ metadata }: { metadata?: Metadata | undefined }): string | undefined {
  const waiting = metadata?.['waiting'];
  const isSaid = typeof waiting === 'object' && waiting !== null && 'reason' in waiting;
  return isSaid ? String(waiting['reason']) : undefined;
}

/** Whether a member was lost with the only machine that may run it; it returns with that machine. */
export function isLost(member: {
  readonly status: string;
  readonly returning?: boolean | undefined;
  readonly host?: string | undefined;
  readonly metadata?: Metadata | undefined;
}): boolean {
  const { status, returning, host } = member;
  return status === 'stopped' && returning === true && host !== undefined && waitingOf(member) !== undefined;
}
