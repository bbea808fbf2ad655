import { createSignal } from '../data/signal.ts';

/** Whether the palette is open. */
export const isPaletteOpen = createSignal(false);

/** Whether the list of keys is open. */
export const isHelpOpen = createSignal(false);

/** Whether the logout confirmation is open. */
export const isLogOutOpen = createSignal(false);

export function openPalette(): void {
  isPaletteOpen.set(true);
}
