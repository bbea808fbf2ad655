import { createSignal } from '../data/signal.ts';

/** Whether the palette is there. */
export const isPaletteOpen = createSignal(false);

/** Whether the list of keys is there. */
export const isHelpOpen = createSignal(false);

export function openPalette(): void {
  isPaletteOpen.set(true);
}
