import { CallError, Client } from '../../src/client/client.ts';
import type { CallOptions, Connect } from '../../src/client/client.ts';
import { webSocketConnect } from '../../src/client/websocket.ts';
import type { ErrorFrame } from '../../src/operations/frames.ts';
import type { InputOf, OperationName, ResultOf } from '../../src/operations/index.ts';
import { record } from '../record/head.ts';
import { compareClocks } from './clock.ts';
import { createSignal } from './signal.ts';

/**
 * Whether the daemon is reachable; `locked` means that it is, but that this browser is not logged in. A record has no
 * daemon.
 */
export type Reach = 'connecting' | 'live' | 'lost' | 'locked' | 'record';

export const reach = createSignal<Reach>(record ? 'record' : 'connecting');

/** The result of a one-time code: `refused` if it was used before or is too old, `unheard` if no daemon answered. */
export type Entry = 'open' | 'refused' | 'unheard';

/** The result of the link that opened this page; undefined if it had no code. */
export const link = createSignal<Entry | undefined>(undefined);

const PULSE_MS = 5_000;

/** A record answers what a daemon would. It is loaded only where there is one. */
const recorded = record && import('../record/port.ts');

const open = webSocketConnect({ url: `${location.origin.replace(/^http/, 'ws')}/ws`, pulseMs: PULSE_MS });

/** A browser does not say why a WebSocket was refused, so a plain request finds out. */
const connect: Connect = (handlers) =>
  open(handlers).catch(async (error: unknown) => {
    const answer = await fetch('/health', { signal: AbortSignal.timeout(PULSE_MS) }).catch(() => undefined);
    if (answer?.status === 401) throw new CallError('unauthenticated', 'This browser is not logged in');
    throw error;
  });

const client = new Client(connect, {
  patience: Infinity,
  onState(state) {
    if (reach.get() === 'locked') return;
    if (state === 'open') {
      reach.set('live');
      // After the login, the link no longer matters: if the page is locked later, the link is not the cause.
      link.set(undefined);
      void compareClocks();
    } else if (reach.get() === 'live') reach.set('lost');
  },
});

/** Runs an operation as the person at the screen. */
export async function call<N extends OperationName>(
  name: N,
  input: InputOf<N>,
  options?: CallOptions,
): Promise<ResultOf<N>> {
  if (recorded) return (await recorded).callRecord(name, input, options);
  try {
    return await client.call(name, input, options);
  } catch (error) {
    noteLock(error);
    throw error;
  }
}

/** Sends a call that outlives the page, and waits for the answer as long as the page is there. */
export async function callAtEnd(address: string, input: object, commandId: string): Promise<void> {
  const answer = await fetch(address, {
    method: 'POST',
    keepalive: true,
    headers: { 'content-type': 'application/json', 'x-troupe-csrf': '1', 'idempotency-key': commandId },
    body: JSON.stringify(input),
  });
  if (answer.ok) return;
  const { error } = (await answer.json()) as { error: ErrorFrame['error'] };
  throw new CallError(error.code, error.message, error.facts);
}

/** Follows a team: past batches first, then new ones. */
export const follow: Client['subscribe'] = async function* follow(teamId, options) {
  yield* recorded ? (await recorded).followRecord(teamId, options) : client.subscribe(teamId, options);
};

/** Shows the login if the daemon does not know this browser. */
export function noteLock(error: unknown): void {
  if (error instanceof CallError && error.code === 'unauthenticated') reach.set('locked');
}

/** Exchanges a one-time code for a session, whose cookie no script can read. */
export async function logIn(code: string): Promise<Entry> {
  const answer = await fetch('/api/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  }).catch(() => undefined);
  return answer?.ok ? 'open' : answer?.status === 401 ? 'refused' : 'unheard';
}

/** Resolves when somebody comes back to this page: they may have logged in from another tab meanwhile. */
export function nextVisit(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = new AbortController();
  const look = (): void => {
    if (document.hidden) return;
    stop.abort();
    resolve();
  };
  addEventListener('focus', look, { signal: stop.signal });
  document.addEventListener('visibilitychange', look, { signal: stop.signal });
  return promise;
}

/** Ends the session, here and at the daemon. */
export async function logOut(): Promise<void> {
  const answer = await fetch('/api/logout', { method: 'POST', headers: { 'x-troupe-csrf': '1' } }).catch(
    () => undefined,
  );
  if (!answer?.ok) throw new CallError('no_daemon', 'The daemon did not end the session: you are still logged in');
  // Drafts are not for the next user.
  sessionStorage.clear();
  location.reload();
}

/** The code in an address that `troupe ui` prints, or in a pasted part of it. */
export function codeIn(text: string): string | undefined {
  return /(?:code=|^)([A-Za-z0-9_-]{20,128})\s*$/.exec(text.trim())?.[1];
}
