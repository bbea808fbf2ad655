import { call } from '../../data/daemon.ts';
import { newWorker } from '../../parts/worker.ts';
import type { LayoutRequest, Places } from './arrange.ts';
import type { Knot } from './layers.ts';
// oxlint-disable-next-line import/default -- Vite makes one, the address of the built file
import workerUrl from './layout-worker.ts?worker&url';

let worker: Worker | undefined;
let lastId = 0;
const RETRY_MS = 500;
const waiting = new Map<number, { readonly request: LayoutRequest; readonly resolve: (places: Places) => void }>();

/** Computes the layout in a worker; one worker serves for the lifetime of the page. */
export function layOut(tasks: readonly Knot[]): Promise<Places> {
  worker ??= startWorker();
  const request: LayoutRequest = { id: ++lastId, tasks };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
  worker.postMessage(request);
  return new Promise((resolve) => waiting.set(request.id, { request, resolve }));
}

/** Starts the worker early, so that it loads while the team is being read. */
export function prepareLayout(): void {
  worker ??= startWorker();
}

function startWorker(): Worker {
  const started = newWorker(workerUrl);
  started.addEventListener('message', ({ data }: MessageEvent<{ id: number; places: Places }>) => {
    waiting.get(data.id)?.resolve(data.places);
    waiting.delete(data.id);
  });
  // An error inside the worker has a message. Without one, its file could not be loaded, and it will never answer.
  started.addEventListener('error', (event) => {
    if (!(event instanceof ErrorEvent)) void startAgain();
  });
  return started;
}

/** Starts another worker once the daemon answers, and repeats the pending requests. */
async function startAgain(): Promise<void> {
  await call('team.list', {});
  await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  worker = startWorker();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
  for (const { request } of waiting.values()) worker.postMessage(request);
}
