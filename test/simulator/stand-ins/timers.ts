// Stands in for node:timers/promises.
import { scheduler } from '../scheduler.ts';

interface Options {
  readonly signal?: AbortSignal;
  readonly ref?: boolean;
}

function wait<T>(ms: number, value: T, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (): void => {
      step.isOff = true;
      reject(Object.assign(new Error('The operation was aborted'), { name: 'AbortError', code: 'ABORT_ERR' }));
    };
    const step = scheduler.plan(ms, () => {
      signal?.removeEventListener('abort', fail);
      resolve(value);
    });
    if (signal?.aborted) fail();
    else signal?.addEventListener('abort', fail, { once: true });
  });
}

export function setTimeout<T>(ms = 1, value?: T, { signal }: Options = {}): Promise<T | undefined> {
  return wait(Math.max(1, ms), value, signal);
}

export function setImmediate<T>(value?: T, { signal }: Options = {}): Promise<T | undefined> {
  return wait(0, value, signal);
}
