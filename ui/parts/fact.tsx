import type { ReactNode } from 'react';

/** One thing on record, with its name above it; what is long and has no spaces gets the whole width. */
export function Fact({ name, isWide = false, children }: { name: string; isWide?: boolean; children: ReactNode }) {
  return (
    <div className={isWide ? 'wide-fact' : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
