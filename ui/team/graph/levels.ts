/** How much of a task is shown: the less room there is, the fewer words, but none is ever smaller than 11 px. */
export type Level = 'whole' | 'short' | 'brief' | 'far';

/** Below this zoom a node is a box without text: boxes, and one path for all edges, are three times as fast. */
const FAR = 0.35;
const BRIEF = 0.5;
const SHORT = 0.86;
/** Text is scaled in these steps of the zoom, because each step styles all visible nodes again. */
const STEPS = 24;

export function levelOf(zoom: number): Level {
  if (zoom < FAR) return 'far';
  if (zoom < BRIEF) return 'brief';
  return zoom < SHORT ? 'short' : 'whole';
}

/** By how much text is enlarged inside the graph, so that it is on the screen at least as large as at zoom 1. */
export function scaleOf(zoom: number): number {
  if (zoom >= 1) return 1;
  // Rounded up: text may be a little larger, never smaller.
  return Math.round(2 ** (Math.ceil(Math.log2(1 / zoom) * STEPS) / STEPS) * 1_000 + 1) / 1_000;
}
