import { Dialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';

/** A dialog in the middle of the page. */
export function Modal({
  title,
  isOpen,
  onClose,
  isForReading = false,
  isWide = isForReading,
  children,
}: {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  /** Wide, and with a close button, because it has no other controls. */
  isForReading?: boolean;
  isWide?: boolean;
  children: ReactNode;
}) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="scrim" />
        <Dialog.Popup className={`dialog${isWide ? ' wide-dialog' : ''}`}>
          <Dialog.Title render={<h2 />}>{title}</Dialog.Title>
          {isForReading && (
            <Dialog.Close className="button ghost icon dialog-close" aria-label="Close">
              <X size={18} aria-hidden />
            </Dialog.Close>
          )}
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
