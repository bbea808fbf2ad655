import { CallError, Client } from '../../src/client/client.ts';
import type { CallOptions, Connect } from '../../src/client/client.ts';
import { webSocketConnect } from '../../src/client/websocket.ts';
import type { InputOf, OperationName, ResultOf } from '../../src/operations/index.ts';
import { compareClocks } from './clock.ts';
import { createSignal } from './signal.ts';

/** Whether the daemon is there: `locked` means that it is, and wants to know who we are. */
export type Reach = 'connecting' | 'live' | 'lost' | 'locked';

export const reach = createSignal<Reach>('connecting');

/** What became of a one-time code: `refused` was used before or is too old, `unheard` reached nobody. */
export type Entry = 'open' | 'refused' | 'unheard';

/** What became of the link by which this page was opened; undefined where there was no code in it. */
export const link = createSignal<Entry | undefined>(undefined);

const PULSE_MS = 5_000;

const open = webSocketConnect({ url: `${location.origin.replace(/^http/, 'ws')}/ws`, pulseMs: PULSE_MS });

/** A browser does not say why a WebSocket was refused; a plain request tells. */
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
      // Who is in has no more use for how; what locks the page later is not the link.
      link.set(undefined);
      void compareClocks();
    } else if (reach.get() === 'live') reach.set('lost');
  },
});

/** Does an operation as the person at the screen. */
export async function call<N extends OperationName>(
  name: N,
  input: InputOf<N>,
  options?: CallOptions,
): Promise<ResultOf<N>> {
  try {
    return await client.call(name, input, options);
  } catch (error) {
    noteLock(error);
    throw error;
  }
}

/** What happened to a team, and what happens. */
export const follow: Client['subscribe'] = (teamId, options) => client.subscribe(teamId, options);

/** Shows the way in where the daemon does not know us. */
export function noteLock(error: unknown): void {
  if (error instanceof CallError && error.code === 'unauthenticated') reach.set('locked');
}

/** Trades a one-time code for a session, which the browser keeps where no script can read it. */
export async function logIn(code: string): Promise<Entry> {
  const answer = await fetch('/api/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  }).catch(() => undefined);
  return answer?.ok ? 'open' : answer?.status === 401 ? 'refused' : 'unheard';
}

/** Until somebody comes to this page again: who logged in by another tab meanwhile is let in here, too. */
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
  // What was begun here is not for who comes next.
  sessionStorage.clear();
  location.reload();
}

/** The code in an address such as `troupe ui` prints, or in what was pasted of it. */
export function codeIn(text: string): string | undefined {
  return /(?:code=|^)([A-Za-z0-9_-]{20,128})\s*$/.exec(text.trim())?.[1];
}
