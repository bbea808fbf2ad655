import { relative } from 'node:path';
import { beforeAll, expect } from 'vitest';
import { COMPILED_CODE } from './compiled-code.ts';
import { atFileEnd } from './file-end.ts';

// Processes that the tests of this file start inherit it; test/setup/leaks.ts reads it from those that stay behind.
process.env['TROUPE_TEST_FILE'] = relative(process.cwd(), expect.getState().testPath ?? '');
process.env['NODE_COMPILE_CACHE'] = COMPILED_CODE;

// A function that a `beforeAll` returns runs after every `afterAll`, and this one after those of the file.
beforeAll(() => async () => {
  for (const end of atFileEnd.splice(0).toReversed()) await end();
});
