import type { LayoutRequest, Places } from './arrange.ts';
import type { Knot } from './layers.ts';
// oxlint-disable-next-line import/default -- Vite makes one, the address of the built file
import workerUrl from './layout-worker.ts?worker&url';

interface ScriptPolicy {
  createScriptURL(url: string): unknown;
}
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): ScriptPolicy;
}

let worker: Worker | undefined;
let lastId = 0;
const waiting = new Map<number, (places: Places) => void>();

/** Works out beside the page where tasks go; one worker serves as long as the page is there. */
export function layOut(tasks: readonly Knot[]): Promise<Places> {
  worker ??= startWorker();
  const request: LayoutRequest = { id: ++lastId, tasks };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
  worker.postMessage(request);
  return new Promise((resolve) => waiting.set(request.id, resolve));
}

/** Starts the worker before there is something to lay out: while a team is read, it can be loaded. */
export function prepareLayout(): void {
  worker ??= startWorker();
}

function startWorker(): Worker {
  const started = new Worker(makePolicy().createScriptURL(workerUrl) as string, { type: 'module' });
  started.addEventListener('message', ({ data }: MessageEvent<{ id: number; places: Places }>) => {
    waiting.get(data.id)?.(data.places);
    waiting.delete(data.id);
  });
  return started;
}

/** Browsers with Trusted Types start a worker only from an address that went through a policy; ours knows one. */
function makePolicy(): ScriptPolicy {
  const types = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
  const createScriptURL = (url: string): string => {
    if (new URL(url, location.origin).origin !== location.origin) throw new TypeError('Workers come from here alone');
    return url;
  };
  return types?.createPolicy('troupe-worker', { createScriptURL }) ?? { createScriptURL };
}
