import { useSyncExternalStore } from 'react';

const NARROW = matchMedia('(max-width: 640px)');

/** Whether the window is as narrow as a phone, also after a rotation. The style sheets use the same width. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      NARROW.addEventListener('change', listener);
      return () => NARROW.removeEventListener('change', listener);
    },
    () => NARROW.matches,
  );
}
