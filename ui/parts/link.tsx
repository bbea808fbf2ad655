import type { ComponentProps, MouseEvent } from 'react';
import { addressOf, navigate } from '../data/route.ts';

/** A link inside the dashboard, without a page load; it can be opened in a new tab as usual. */
export function Link({ href, onClick, ...rest }: ComponentProps<'a'> & { href: string }) {
  const follow = (event: MouseEvent<HTMLAnchorElement>): void => {
    onClick?.(event);
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    navigate(href);
  };
  return <a href={addressOf(href)} onClick={follow} {...rest} />;
}
