import { useEffect, useRef, useState } from 'react';

const SHINE_MS = 1_200;

/** Whether a value changed a moment ago; then its component is highlighted. */
export function useJustChanged(value: unknown): boolean {
  const before = useRef(value);
  const [isNew, setNew] = useState(false);
  useEffect(() => {
    if (Object.is(before.current, value)) return undefined;
    before.current = value;
    setNew(true);
    const timer = setTimeout(() => setNew(false), SHINE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return isNew;
}
