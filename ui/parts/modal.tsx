import { Dialog } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';

/** A dialog in the middle of the page. */
export function Modal({
  title,
  isOpen,
  onClose,
  isWide = false,
  children,
}: {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  isWide?: boolean;
  children: ReactNode;
}) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="scrim" />
        <Dialog.Popup className={`dialog${isWide ? ' wide-dialog' : ''}`}>
          <Dialog.Title render={<h2 />}>{title}</Dialog.Title>
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
