import { failureOf } from '../parts/act.ts';
import type { Failure } from '../parts/act.ts';
import { ANSWER_ADDRESSES } from './answer-addresses.ts';
import { call, callAtEnd, reach } from './daemon.ts';
import { createSignal, useSignal } from './signal.ts';

/**
 * How long an answer can be taken back. The page keeps it for so long before it sends it, since what was sent cannot be
 * undone: the daemon carries out an answer in the commit that stores it, and a member acts on it at once. So "Undo" is
 * true as long as it is shown. Until then nobody is answered, and the page says so. A page that is closed sends it at
 * once.
 */
export const HOLD_MS = 4_000;

/** What a browser sends of a page that is gone, all requests together. Bytes. */
const AT_END_BYTES = 60_000;

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

/** The call that gives an answer. */
export interface AnswerCall {
  readonly name: keyof typeof ANSWER_ADDRESSES;
  readonly input: { readonly teamId: string; readonly requestId: string };
}

/** An answer that the daemon does not have yet. */
interface Open {
  readonly timer: ReturnType<typeof setTimeout>;
  readonly bytes: number;
  readonly deliver: (isAtEnd: boolean) => Promise<void>;
}

const given = createSignal<ReadonlyMap<string, GivenAnswer>>(new Map());
const open = new Map<string, Open>();

// Also of an answer whose call is on its way: under its command id, the daemon takes it once.
addEventListener('pagehide', () => {
  for (const { deliver } of open.values()) void deliver(true);
});

/** The answer to a request that was given on this page. It does not end with the part of the page that shows it. */
export function useGiven(request: RequestName): GivenAnswer | undefined {
  return useSignal(given).get(keyOf(request));
}

/** Gives an answer, which is sent after a while. `around` does what belongs to the sending. */
export function giveAnswer(
  request: RequestName,
  words: string,
  { name, input }: AnswerCall,
  around: (send: () => Promise<unknown>) => Promise<unknown> = (send) => send(),
): void {
  const key = keyOf(request);
  const before = given.get().get(key);
  if (before && before.state !== 'refused') return;
  const answer = { words, sentAt: Date.now() + HOLD_MS };
  const commandId = crypto.randomUUID();
  const deliver = async (isAtEnd: boolean): Promise<void> => {
    clearTimeout(open.get(key)?.timer);
    put(key, { ...answer, state: 'sending' });
    try {
      await around(() =>
        isAtEnd ? callAtEnd(addressOf(name, input), input, commandId) : call(name, input, { commandId }),
      );
      open.delete(key);
      put(key, { ...answer, state: 'sent' });
    } catch (error) {
      open.delete(key);
      put(key, { ...answer, state: 'refused', failure: failureOf(error) });
    }
  };
  const bytes = new TextEncoder().encode(JSON.stringify(input)).length;
  open.set(key, { timer: setTimeout(() => void deliver(false), HOLD_MS), bytes, deliver });
  put(key, { ...answer, state: 'held' });
}

/** Takes an answer back that was not sent yet. */
export function takeBack(request: RequestName): void {
  const key = keyOf(request);
  if (given.get().get(key)?.state !== 'held') return;
  clearTimeout(open.get(key)?.timer);
  open.delete(key);
  put(key, undefined);
}

function addressOf(name: AnswerCall['name'], { teamId, requestId }: AnswerCall['input']): string {
  return ANSWER_ADDRESSES[name]
    .replace(':teamId', encodeURIComponent(teamId))
    .replace(':requestId', encodeURIComponent(requestId));
}

function put(key: string, answer: GivenAnswer | undefined): void {
  const next = new Map(given.get());
  if (answer) next.set(key, answer);
  else next.delete(key);
  given.set(next);
  if (open.size > 0) addEventListener('beforeunload', warn);
  else removeEventListener('beforeunload', warn);
}

/** An answer would be lost with the page if it is too long for its end, or no daemon is there. */
function warn(event: BeforeUnloadEvent): void {
  const bytes = [...open.values()].reduce((sum, one) => sum + one.bytes, 0);
  if (bytes > AT_END_BYTES || reach.get() !== 'live') event.preventDefault();
}

function keyOf({ teamId, id }: RequestName): string {
  return `${teamId}/${id}`;
}
