import { createSignal } from '../data/signal.ts';

/** Whether the palette is there. */
export const isPaletteOpen = createSignal(false);

export function openPalette(): void {
  isPaletteOpen.set(true);
}
