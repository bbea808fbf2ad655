import { relative } from 'node:path';
import { expect } from 'vitest';

// Inherited by the processes that this file's tests start; test/setup/leaks.ts reads it from those that stay behind.
process.env['TROUPE_TEST_FILE'] = relative(process.cwd(), expect.getState().testPath ?? '');
