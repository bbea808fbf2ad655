import { useState } from 'react';
import { CallError } from '../../src/client/client.ts';
import { say } from './toast.tsx';

/** An error, with the code that documents and programs use. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

export function failureOf(error: unknown): Failure {
  if (error instanceof CallError) return { code: error.code, message: error.message };
  return { code: 'internal', message: error instanceof Error ? error.message : String(error) };
}

/** Runs an action and shows its outcome as a toast; for actions without a place of their own for it. */
export async function act(work: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await work();
    if (done !== undefined) say(done);
    return true;
  } catch (error) {
    const { code, message } = failureOf(error);
    say(`${message} (${code})`, true);
    return false;
  }
}

/** The state of a form: whether it is being sent, the error, and a function that sends it. */
export function useAct(): {
  isBusy: boolean;
  failure: Failure | undefined;
  run: (work: () => Promise<unknown>) => Promise<boolean>;
} {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  return {
    isBusy,
    failure,
    async run(work) {
      setBusy(true);
      setFailure(undefined);
      try {
        await work();
        return true;
      } catch (error) {
        setFailure(failureOf(error));
        return false;
      } finally {
        setBusy(false);
      }
    },
  };
}
