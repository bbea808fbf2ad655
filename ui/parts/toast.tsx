import { CircleCheck, CircleX, X } from 'lucide-react';
import { createSignal, useSignal } from '../data/signal.ts';
import { IconButton } from './icon-button.tsx';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isError: boolean;
}

const toasts = createSignal<readonly Toast[]>([]);
let nextId = 1;
const SHOWN_MS = 5_000;
const ERROR_MS = 12_000;

/** Shows a toast with the outcome of an action elsewhere on the page. */
export function say(text: string, isError = false): void {
  const id = nextId++;
  toasts.set([...toasts.get().slice(-3), { id, text, isError }]);
  setTimeout(() => dismiss(id), isError ? ERROR_MS : SHOWN_MS);
}

function dismiss(id: number): void {
  toasts.set(toasts.get().filter((toast) => toast.id !== id));
}

export function Toasts() {
  const shown = useSignal(toasts);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, isError }) => (
        <div key={id} className={`toast${isError ? ' failed' : ''}`}>
          <span className={`status is-${isError ? 'failed' : 'completed'}`}>
            {isError ? <CircleX size={16} aria-hidden /> : <CircleCheck size={16} aria-hidden />}
          </span>
          <span className="text spacer">{text}</span>
          <IconButton className="small" onClick={() => dismiss(id)} label="Dismiss">
            <X size={14} aria-hidden />
          </IconButton>
        </div>
      ))}
    </div>
  );
}
