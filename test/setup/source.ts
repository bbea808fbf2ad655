/** Whether what the tests start runs from src/ (`1`) or as it was built (empty); vitest.config.ts decides. */
export const TROUPE_SOURCE = process.env['TROUPE_SOURCE'] ?? '1';
