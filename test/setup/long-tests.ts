/**
 * The files that take longest, longest first (measured: from two minutes down to half a one). Vitest knows them only after a first run,
 * and begins a fresh checkout with the largest files, which these are not: one of them would be left to the end, alone.
 */
export const LONG: readonly string[] = [
  'test/agents/opencode.test.ts',
  'test/e2e/machines/chaos.test.ts',
  'test/daemon/crash.test.ts',
  'test/ui/access.test.ts',
  'test/e2e/team.test.ts',
  'test/agents/gemini.test.ts',
  'test/agents/claude-native.test.ts',
  'test/journal/nats-cluster.test.ts',
  'test/e2e/machines/parted.test.ts',
  'test/ledger/model.test.ts',
  'test/ui/team.test.ts',
  'test/cli/daemon.test.ts',
  'test/daemon/life.test.ts',
  'test/agents/claude.test.ts',
  'test/journal/nats-rivals.test.ts',
  'test/native/host.test.ts',
];
