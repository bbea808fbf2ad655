import type { InputOf } from '../operations/index.ts';
import type { Door } from './door.ts';
import type { Watch } from './watch.ts';

/** A person's answer, or that there was none. */
export interface PersonSays {
  readonly allow: boolean;
  readonly message?: string;
}

/** Asks a person, and waits for the answer: at most so many milliseconds, and not after the signal. */
export async function askPerson(
  { door, watch }: { readonly door: Door; readonly watch: Watch },
  request: InputOf<'request.raise'>,
  { within, signal }: { readonly within: number; readonly signal?: AbortSignal },
): Promise<PersonSays> {
  const { promise, resolve } = Promise.withResolvers<PersonSays>();
  // The request gets its id only when it is raised, and the answer may arrive before we know the id.
  const answers = new Map<string, PersonSays>();
  let requestId: string | undefined;
  const settle = (): void => {
    const answer = requestId === undefined ? undefined : answers.get(requestId);
    if (answer) resolve(answer);
  };
  const stopListening = watch.onEvent((event) => {
    if (event.type !== 'request:answered') return;
    const message = event.feedback ?? (event.approved ? undefined : 'a person said no');
    answers.set(event.requestId, { allow: event.approved, ...(message !== undefined && { message }) });
    settle();
  });
  const nobody = (): void => resolve({ allow: false, message: 'nobody answered in time' });
  const timer = setTimeout(nobody, within);
  signal?.addEventListener('abort', nobody, { once: true });
  try {
    requestId = (await door.call('request.raise', request)).id;
    settle();
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', nobody);
    stopListening();
  }
}
