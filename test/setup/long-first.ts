import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';
import { LONG } from './long-tests.ts';

/**
 * Folders whose tests start git thousands of times in their own process. Each start copies the page tables of that process, which
 * grows to several hundred MB. `test/workspaces` takes 87 s of processor time after other tests, and 62 s in new processes (measured).
 */
const STARTS_GIT = /\/test\/(workspaces|operations|runtime\/(work|landing))\//;

/**
 * Runs what starts git first, while the processes that run the tests are small. Then the slowest files, so that none is left over for
 * one worker while the others are idle.
 */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      if (STARTS_GIT.test(moduleId)) return -1;
      const at = LONG.findIndex((path) => moduleId.endsWith(`/${path}`));
      return at === -1 ? LONG.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
