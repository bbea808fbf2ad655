import { record } from '../record/head.ts';

interface ScriptPolicy {
  createScriptURL(url: string): unknown;
}
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): ScriptPolicy;
}

/** Starts a worker from a built file of ours. */
export function newWorker(url: string): Worker {
  return new Worker(policy().createScriptURL(url) as string, { type: record ? 'classic' : 'module' });
}

let made: ScriptPolicy | undefined;

/**
 * Browsers with Trusted Types start a worker only from an address that a policy has approved. Our policy allows our own
 * origin, and is created once.
 */
function policy(): ScriptPolicy {
  const types = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
  const createScriptURL = (url: string): string => {
    // The workers of a record are inside of it.
    const isOurs = record ? url.startsWith('blob:') : new URL(url, location.origin).origin === location.origin;
    if (!isOurs) throw new TypeError('Workers come from here alone');
    return url;
  };
  made ??= types?.createPolicy('troupe-worker', { createScriptURL }) ?? { createScriptURL };
  return made;
}
