import { createSignal } from '../data/signal.ts';

/** Whether the palette is there. */
export const isPaletteOpen = createSignal(false);

/** Whether the list of keys is there. */
export const isHelpOpen = createSignal(false);

/** Whether the page asks if one wants to log out. */
export const isLogOutOpen = createSignal(false);

export function openPalette(): void {
  isPaletteOpen.set(true);
}
