import type { TestContext } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** The steps of the test and how long each took, for the end of a run. */
    steps?: { readonly name: string; readonly ms: number }[];
  }
}

/** Does a step of a test. The end of the run says how long it took; no test asserts it. */
export async function step<T>({ task }: TestContext, name: string, act: () => T | Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await act();
  (task.meta.steps ??= []).push({ name, ms: performance.now() - start });
  return result;
}
