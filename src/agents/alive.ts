import type { AgentEvent } from './agent.ts';

/** Signs of life come with every piece of a thought; no more than this many are told. */
const EVERY_MS = 5_000;

/** Tells signs of life that have no content of their own: of the model, or of what a tool runs. */
export function lifeSigns(tell: (event: AgentEvent) => void): (toolId?: string) => void {
  const told = new Map<string | undefined, number>();
  return (toolId) => {
    const now = performance.now();
    if (now - (told.get(toolId) ?? -Infinity) < EVERY_MS) return;
    told.set(toolId, now);
    tell({ type: 'alive', ...(toolId !== undefined && { toolId }) });
  };
}
