import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';
import { LONG } from './long-tests.ts';

/** Runs the slowest files first, so that none is left over for one worker while the others are idle. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONG.findIndex((path) => moduleId.endsWith(`/${path}`));
      return at === -1 ? LONG.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
