import { COVERED_ROOMS } from '../rooms.ts';

/** A part of the sources whose tests are measured. */
export interface Room {
  readonly name: string;
  /** Patterns of its sources. */
  readonly sources: readonly string[];
  /** Patterns of the test files that may kill its mutants. */
  readonly tests: readonly string[];
  /** How many mutants `npm run proof` tries, drawn at random. */
  readonly sample: number;
  /** A source and its test, of which `--quick` tries a few mutants. */
  readonly quick: readonly [source: string, test: string];
  /** How long that takes on two cores. */
  readonly minutes: number;
}

export const ROOMS: readonly Room[] = [
  {
    name: 'core',
    sources: sourcesOf('core'),
    tests: ['test/core/**/*.test.ts', 'test/ledger/*.test.ts'],
    sample: 1_200,
    quick: ['src/core/lease.ts', 'test/core/lease.test.ts'],
    minutes: 20,
  },
  {
    name: 'ledger',
    sources: sourcesOf('ledger'),
    tests: ['test/ledger/*.test.ts'],
    sample: 500,
    quick: ['src/ledger/open-state.ts', 'test/ledger/opening.test.ts'],
    minutes: 12,
  },
  {
    name: 'journal',
    sources: sourcesOf('journal'),
    tests: ['test/journal/*.test.ts'],
    sample: 400,
    quick: ['src/journal/memory.ts', 'test/journal/memory.test.ts'],
    minutes: 12,
  },
  {
    name: 'hooks',
    sources: ['src/runtime/hooks/**/*.ts'],
    tests: ['test/runtime/hooks/*.test.ts'],
    sample: 400,
    quick: ['src/runtime/hooks/verdict.ts', 'test/runtime/hooks/verdict.test.ts'],
    minutes: 6,
  },
  {
    name: 'auth',
    sources: sourcesOf('auth'),
    tests: [
      // Not `refusals`: its 394 tests, which say the same of each operation, would leave no time for the others.
      'test/server/{answer-links,credentials,guard,http,identity,login,mcp-share,revoked,session,share,socket}.test.ts',
      'test/mcp/{http,forgery,offer,work}.test.ts',
      'test/operations/{caller,visible}.test.ts',
    ],
    sample: 400,
    quick: ['src/server/answer-links.ts', 'test/server/answer-links.test.ts'],
    minutes: 10,
  },
  {
    name: 'workspaces',
    sources: ['src/workspaces/**/*.ts'],
    tests: ['test/workspaces/*.test.ts'],
    sample: 300,
    quick: ['src/workspaces/git-errors.ts', 'test/workspaces/git-errors.test.ts'],
    minutes: 15,
  },
];

/** The same files whose branches are counted. */
function sourcesOf(room: string): readonly string[] {
  return COVERED_ROOMS.find(({ name }) => name === room)?.files ?? [];
}
