import { Suspense, useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import type { Route } from '../data/route.ts';
import { useSignal } from '../data/signal.ts';
import { Boundary } from '../parts/boundary.tsx';
import { useKeys } from '../parts/keys.ts';
import { later, whenIdle } from '../parts/later.ts';
import { Modal } from '../parts/modal.tsx';
import { isHelpOpen, isPaletteOpen } from './open.ts';

const Commands = later(async () => (await import('./commands.tsx')).Commands, { isOptional: true });

/** The keys that open the palette and the list of keys, on every page. */
export function Palette({ route }: { route: Route }) {
  useKeys({ 'ctrl+k': () => isPaletteOpen.set(!isPaletteOpen.get()), '?': () => isHelpOpen.set(true) });
  const isOpen = useSignal(isPaletteOpen);
  const isHelp = useSignal(isHelpOpen);
  // Once loaded it stays: forms that it opens outlive it, and it opens at once the next time.
  const [isThere, setThere] = useState(false);
  useEffect(() => whenIdle(() => setThere(true)), []);
  if (!isThere && !isOpen && !isHelp) return null;
  return (
    <Boundary within={inDialog}>
      <Suspense fallback={null}>
        <Commands route={route} />
      </Suspense>
    </Boundary>
  );
}

function inDialog(failure: ReactNode): ReactNode {
  return <Missing>{failure}</Missing>;
}

/** If the palette cannot be loaded, only people who opened it are told. */
function Missing({ children }: { children: ReactNode }) {
  const isOpen = useSignal(isPaletteOpen);
  const isHelp = useSignal(isHelpOpen);
  const close = (): void => {
    isPaletteOpen.set(false);
    isHelpOpen.set(false);
  };
  return (
    <Modal title="Commands" isOpen={isOpen || isHelp} onClose={close} isForReading>
      {children}
    </Modal>
  );
}
