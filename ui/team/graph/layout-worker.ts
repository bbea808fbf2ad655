import { arrange } from './arrange.ts';
import type { LayoutRequest } from './arrange.ts';

addEventListener('message', ({ data }: MessageEvent<LayoutRequest>) => {
  postMessage({ id: data.id, places: arrange(data.tasks) });
});
