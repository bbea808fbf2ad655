import { expect, test } from 'vitest';
import { explainFailure } from '../../src/workspaces/git-errors.ts';

/** What git says on a full disk; which one depends on the file that no longer fits. */
const FULL = [
  'error: unable to write loose object file: No space left on device\nfatal: updating files failed',
  "fatal: sha1 file '/state/indexes/alpha/ada/index.lock' write error. Out of diskspace",
];

test.for(FULL)('a full disk is named as such: %s', (err) => {
  const limits = { maxBytes: 1, timeoutMs: 1 };
  const error = explainFailure({ args: ['update-index'], how: 128, err, dir: '/state', limits });
  expect(error).toMatchObject({ code: 'storage', facts: { errno: 'ENOSPC' } });
  expect(error.message).toContain('the disk is full: free some space');
});
