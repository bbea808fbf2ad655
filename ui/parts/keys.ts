import { useEffect, useRef } from 'react';

/** Key bindings. `g q` is two keys in a row, `ctrl+k` one with a modifier (Command on a Mac). */
export type Keys = Readonly<Record<string, (() => void) | undefined>>;

const CHAIN_MS = 1_200;

/** Keys that repeat while held down. Others count once, so that a held key does not answer the next request too. */
const HELD = new Set(['j', 'k', '[', ']', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight']);

/** Listens for keys while the component is shown; not while somebody types or a dialog is open. */
export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    let before = '';
    let at = 0;
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.altKey) return;
      const hasModifier = event.ctrlKey || event.metaKey;
      if (!hasModifier && (isTyping(event.target) || isDialogOpen())) return;
      const key = `${hasModifier ? 'ctrl+' : ''}${event.key.length === 1 ? event.key.toLowerCase() : event.key}`;
      const chain = event.timeStamp - at < CHAIN_MS ? `${before} ${key}` : '';
      const run = current.current[chain] ?? current.current[key];
      before = key;
      at = event.timeStamp;
      if (!run) return;
      event.preventDefault();
      if (!event.repeat || HELD.has(key)) run();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== 'range' && target.type !== 'checkbox';
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}

/** One that was closed a moment ago is still in the page. */
function isDialogOpen(): boolean {
  return (
    document.querySelector('[role=dialog]:not([data-sheet], [data-closed]), [role=menu]:not([data-closed])') !== null
  );
}
