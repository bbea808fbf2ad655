import type { ErrorCode } from '../core/errors.ts';

/** On every answer: what a browser may do with it, which is as little as the dashboard needs. */
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

/** Too much waits at this moment; a second is long. */
const BUSY_MS = 1_000;

/** When to come again, for those who came too often or at a bad moment, in whole seconds as HTTP wants it. */
export function retryHeader(error: { code: ErrorCode; retryMs?: number | undefined }): Record<string, string> {
  const ms = error.retryMs ?? (error.code === 'overloaded' ? BUSY_MS : undefined);
  return ms === undefined ? {} : { 'retry-after': String(Math.ceil(ms / 1_000)) };
}
