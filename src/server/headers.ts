import type { ErrorCode } from '../core/errors.ts';

/** On every answer. They allow a browser only what the dashboard needs. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types troupe-worker',
    "worker-src 'self'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** How long an overload usually lasts at most. */
const BUSY_MS = 1_000;

/** The `retry-after` header of a refusal by a limit or an overload, in whole seconds as HTTP wants it. */
export function retryHeader(error: { code: ErrorCode; retryMs?: number | undefined }): Record<string, string> {
  const ms = error.retryMs ?? (error.code === 'overloaded' ? BUSY_MS : undefined);
  return ms === undefined ? {} : { 'retry-after': String(Math.ceil(ms / 1_000)) };
}
