import type { ReactNode } from 'react';

/** A fact with its name above it; a long value without spaces gets the whole width. */
export function Fact({ name, isWide = false, children }: { name: string; isWide?: boolean; children: ReactNode }) {
  return (
    <div className={isWide ? 'wide-fact' : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
