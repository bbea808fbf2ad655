import type { HookConfig, HookResult } from '../../core/hook.ts';
import type { HookContext } from './payload.ts';
import { ALLOWED, applyPolicy } from './verdict.ts';

/** A hook in this process: its answer is the verdict; an exception is a failure of the hook. */
export type HookFunction = (context: HookContext) => Promise<HookAnswer> | HookAnswer;
export type HookAnswer = { readonly reject: string } | undefined;

/** As for a program: milliseconds until it counts as failed, and what a failure means. */
export type FunctionOptions = Partial<Pick<HookConfig, 'timeout' | 'onFailure'>>;
export type RegisteredFunction = Required<FunctionOptions> & { readonly run: HookFunction };

/** Calls a function and turns its answer into a verdict. */
export async function runFunction(judge: RegisteredFunction, context: HookContext): Promise<HookResult> {
  const began = performance.now();
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  let timedOut = false;
  // The function cannot be killed, but the judgement must not wait for it.
  const timer = setTimeout(() => {
    timedOut = true;
    reject(new Error('It did not answer'));
  }, judge.timeout);
  const done = (exitCode: HookResult['exitCode'], stderr = ''): HookResult => ({
    ...ALLOWED,
    exitCode,
    stderr,
    duration: performance.now() - began,
    timedOut,
  });
  try {
    const answer = await Promise.race([judge.run(context), tooLate]);
    return answer ? done(2, answer.reject) : done(0);
  } catch (error) {
    return applyPolicy(judge, done(1, error instanceof Error ? error.message : String(error)));
  } finally {
    clearTimeout(timer);
  }
}
