import type { ComponentProps } from 'react';

/** A button that shows only an icon, and says in words what it does. */
export function IconButton({
  label,
  className = '',
  ...rest
}: { label: string } & Omit<ComponentProps<'button'>, 'type' | 'aria-label'>) {
  return <button type="button" className={`button ghost icon ${className}`.trimEnd()} aria-label={label} {...rest} />;
}
