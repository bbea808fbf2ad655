import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

/** What a part of a page shows that has nothing yet: what is missing, and what would be here or what to do. */
export function Empty({ icon: Icon, title, children }: { icon: LucideIcon; title: ReactNode; children?: ReactNode }) {
  return (
    <div className="empty">
      <Icon size={32} aria-hidden />
      <h2>{title}</h2>
      {children}
    </div>
  );
}
