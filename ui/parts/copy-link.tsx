import { Link2 } from 'lucide-react';
import { addressOf } from '../data/route.ts';
import { say } from './toast.tsx';

/** A small button that copies the address of something. Whoever opens the address sees the same. */
export function CopyLink({
  path,
  what,
  className = '',
}: {
  /** The address; a function if it depends on what the page shows at that moment. */
  path: string | (() => string);
  what: string;
  className?: string;
}) {
  return (
    <button
      type="button"
      className={`button ghost icon copy-link ${className}`}
      aria-label={`Copy a link to ${what}`}
      title={`Copy a link to ${what}`}
      onClick={(event) => {
        event.stopPropagation();
        void copyLink(typeof path === 'string' ? path : path(), what);
      }}
    >
      <Link2 size={16} aria-hidden />
    </button>
  );
}

/** Copies the address of a page, and says so. */
export async function copyLink(path: string, what: string): Promise<void> {
  const address = new URL(addressOf(path), location.href).href;
  try {
    await navigator.clipboard.writeText(address);
    say(`Copied a link to ${what}`);
  } catch {
    // Browsers allow it only on this machine or over https.
    say(`This browser does not let the page copy. The link is ${address}`, true);
  }
}
