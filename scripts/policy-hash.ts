import { createHash } from 'node:crypto';

/** A script or style sheet inside of a page, as the page's content security policy names it. */
export function policyHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
