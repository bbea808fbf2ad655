/** Whether programs that tests start run from src/ (`1`) or from the build (empty); vitest.config.ts decides. */
export const TROUPE_SOURCE = process.env['TROUPE_SOURCE'] ?? '1';
