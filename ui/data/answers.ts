import { failureOf } from '../parts/act.ts';
import type { Failure } from '../parts/act.ts';
import { createSignal, useSignal } from './signal.ts';

/**
 * How long an answer can be taken back. The page keeps it for so long before it sends it, since what was sent cannot be
 * undone: the daemon carries out an answer in the commit that stores it, and a member acts on it at once. So "Undo" is
 * true as long as it is shown. Until then nobody is answered, and the page says so.
 */
export const HOLD_MS = 4_000;

/** Names a request among those of all teams. */
export interface RequestName {
  readonly teamId: string;
  readonly id: string;
}

/** An answer that was given on this page. */
export interface GivenAnswer {
  /** What was answered: "Allowed". */
  readonly words: string;
  /** `held` can be taken back; `refused` was not accepted, and the request waits on. */
  readonly state: 'held' | 'sending' | 'sent' | 'refused';
  /** When a held one is sent, in milliseconds since 1970. */
  readonly sentAt: number;
  readonly failure?: Failure;
}

const given = createSignal<ReadonlyMap<string, GivenAnswer>>(new Map());
const timers = new Map<string, ReturnType<typeof setTimeout>>();

/** The answer to a request that was given on this page. It does not end with the part of the page that shows it. */
export function useGiven(request: RequestName): GivenAnswer | undefined {
  return useSignal(given).get(keyOf(request));
}

/** Gives an answer, which is sent after a while. */
export function giveAnswer(request: RequestName, words: string, send: () => Promise<unknown>): void {
  const key = keyOf(request);
  const before = given.get().get(key);
  if (before && before.state !== 'refused') return;
  const answer = { words, sentAt: Date.now() + HOLD_MS };
  const deliver = async (): Promise<void> => {
    timers.delete(key);
    put(key, { ...answer, state: 'sending' });
    try {
      await send();
      put(key, { ...answer, state: 'sent' });
    } catch (error) {
      put(key, { ...answer, state: 'refused', failure: failureOf(error) });
    }
  };
  timers.set(
    key,
    setTimeout(() => void deliver(), HOLD_MS),
  );
  put(key, { ...answer, state: 'held' });
}

/** Takes an answer back that was not sent yet. */
export function takeBack(request: RequestName): void {
  const key = keyOf(request);
  const timer = timers.get(key);
  if (timer === undefined) return;
  clearTimeout(timer);
  timers.delete(key);
  put(key, undefined);
}

function put(key: string, answer: GivenAnswer | undefined): void {
  const next = new Map(given.get());
  if (answer) next.set(key, answer);
  else next.delete(key);
  given.set(next);
  // An answer that is not with the daemon yet would be lost with the page.
  const isOpen = [...next.values()].some(({ state }) => state === 'held' || state === 'sending');
  if (isOpen) addEventListener('beforeunload', warn);
  else removeEventListener('beforeunload', warn);
}

function warn(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

function keyOf({ teamId, id }: RequestName): string {
  return `${teamId}/${id}`;
}
