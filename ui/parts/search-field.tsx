import { Search } from 'lucide-react';
import type { ReactNode, Ref } from 'react';

/** A field with a text to find. With `onClear`, Escape empties it and leaves it. */
export function SearchField({
  ref,
  label,
  placeholder = label,
  value,
  maxLength,
  onText,
  onClear,
  children,
}: {
  ref: Ref<HTMLInputElement>;
  label: string;
  placeholder?: string;
  value: string;
  maxLength?: number;
  onText: (text: string) => void;
  onClear?: () => void;
  /** The key that leads to the field. */
  children?: ReactNode;
}) {
  return (
    <label className="search">
      <Search size={15} aria-hidden />
      <input
        ref={ref}
        className="input"
        type="search"
        placeholder={placeholder}
        aria-label={label}
        maxLength={maxLength}
        value={value}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && onClear && (onClear(), event.currentTarget.blur())}
      />
      {children}
    </label>
  );
}
