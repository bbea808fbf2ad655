import { relative } from 'node:path';
import { expect } from 'vitest';
import { COMPILED_CODE } from './compiled-code.ts';

// Processes that the tests of this file start inherit it; test/setup/leaks.ts reads it from those that stay behind.
process.env['TROUPE_TEST_FILE'] = relative(process.cwd(), expect.getState().testPath ?? '');
process.env['NODE_COMPILE_CACHE'] = COMPILED_CODE;
