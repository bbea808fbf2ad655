import { Suspense, useEffect, useState } from 'react';
import type { Route } from '../data/route.ts';
import { useSignal } from '../data/signal.ts';
import { useKeys } from '../parts/keys.ts';
import { later, whenIdle } from '../parts/later.ts';
import { isHelpOpen, isPaletteOpen } from './open.ts';

const Commands = later(async () => (await import('./commands.tsx')).Commands);

/** The keys that open the palette and the list of keys, everywhere. */
export function Palette({ route }: { route: Route }) {
  useKeys({ 'ctrl+k': () => isPaletteOpen.set(!isPaletteOpen.get()), '?': () => isHelpOpen.set(true) });
  const isOpen = useSignal(isPaletteOpen);
  const isHelp = useSignal(isHelpOpen);
  // It stays once it is there: what it opens outlives it, and the next time it opens at once.
  const [isThere, setThere] = useState(false);
  useEffect(() => whenIdle(() => setThere(true)), []);
  if (!isThere && !isOpen && !isHelp) return null;
  return (
    <Suspense fallback={null}>
      <Commands route={route} />
    </Suspense>
  );
}
