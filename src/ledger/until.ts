import type { TeamState } from '../core/state.ts';
import type { Ledger } from './ledger.ts';

/** Follows a team until `look` finds something; gives up after `wait` milliseconds, if given. */
export async function until<V>(
  ledger: Ledger,
  teamId: string,
  look: (state: TeamState) => V | undefined,
  { wait, signal }: { readonly wait?: number | undefined; readonly signal: AbortSignal },
): Promise<V | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<V | undefined>();
  const see = (state: TeamState): void => {
    try {
      const found = look(state);
      if (found !== undefined) resolve(found);
    } catch (error) {
      reject(error);
    }
  };
  const stopListening = ledger.subscribe((id, _batch, state) => {
    if (id === teamId) see(state);
  });
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  const timer = wait === undefined ? undefined : setTimeout(() => resolve(undefined), wait);
  try {
    ledger.view(teamId, see).catch(reject);
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    stopListening();
  }
}
