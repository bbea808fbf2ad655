/** Code whose every branch a test must reach, and the tests that do. */
export interface CoveredRoom {
  readonly name: string;
  /** Source files, as patterns relative to the repository. */
  readonly files: readonly string[];
  /** Test files or folders. They run in one process, so their branches are seen; those of programs that they start are not. */
  readonly tests: readonly string[];
}

/** What must not be wrong: rules, their store, the ways to keep it, and everything that says who may do what. */
export const COVERED_ROOMS: readonly CoveredRoom[] = [
  { name: 'core', files: ['src/core/**'], tests: ['test/core', 'test/ledger'] },
  { name: 'ledger', files: ['src/ledger/**'], tests: ['test/ledger'] },
  { name: 'journal', files: ['src/journal/**'], tests: ['test/journal'] },
  {
    // Tokens, sessions, links and their files; Host and Origin; scopes; what a caller may see and which tools it gets.
    name: 'auth',
    files: [
      'src/server/answer-links.ts',
      'src/server/auth.ts',
      'src/server/cookie.ts',
      'src/server/guard.ts',
      'src/server/http.ts',
      'src/server/logins.ts',
      'src/server/rate.ts',
      'src/server/secret-file.ts',
      'src/server/socket.ts',
      'src/operations/caller.ts',
      'src/operations/visible.ts',
      'src/mcp/access.ts',
    ],
    tests: [
      ...['answer-links', 'credentials', 'http', 'identity', 'login', 'refusals', 'revoked', 'socket'].map(
        (name) => `test/server/${name}.test.ts`,
      ),
      'test/operations/caller.test.ts',
      'test/operations/visible.test.ts',
      'test/mcp/offer.test.ts',
    ],
  },
];
