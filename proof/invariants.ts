/** One of the promises of the design, and what checks it. */
interface Invariant {
  readonly what: string;
  /** What the simulator checks about it, after every event or in the end; nothing if it does not. */
  readonly simulated?: string;
  /** Tests that check it with real processes, files or requests. */
  readonly tests: readonly string[];
}

const CHECKS = 'checks.ts';
const LANDING = 'landing-checks.ts';
const MAIL = 'mail-checks.ts';
const RESTARTS = 'restart-checks.ts';
const MEMORY = 'memory.ts';
const TRACES = 'traces.ts';
const REST = 'run.ts, at rest';
const MEMBERS = 'attended.ts';
const NATIVE = 'native/checks.ts';

/** In the order of their numbers, from 1. */
const INVARIANTS: readonly Invariant[] = [
  { what: 'one holder per epoch, epochs grow', simulated: CHECKS, tests: ['core/invariants', 'e2e/machines'] },
  { what: 'a stale write fails and changes nothing', simulated: CHECKS, tests: ['core/rules/task', 'ledger/model'] },
  { what: 'a claim needs a pending, ready task', simulated: CHECKS, tests: ['core/rules/claim', 'core/ready'] },
  { what: 'completed is final', simulated: CHECKS, tests: ['core/rules/task', 'core/deleted-tasks'] },
  { what: 'no task waits for itself', simulated: CHECKS, tests: ['core/rules/graph'] },
  { what: 'blocks and blockedBy agree', simulated: NATIVE, tests: ['core/view', 'bridge/begun'] },
  {
    what: 'task ids are never reused',
    simulated: `${NATIVE} (no two for one native task)`,
    tests: ['core/deleted-tasks'],
  },
  {
    what: 'no update is lost to another writer',
    simulated: `${NATIVE}, ${REST}`,
    tests: ['ledger/race', 'bridge/race'],
  },
  { what: "a dead holder's task is free soon", simulated: `${CHECKS}, ${MEMBERS}`, tests: ['e2e/reclaim'] },
  { what: 'a verdict is about one version of a task', simulated: LANDING, tests: ['ledger/task-gate'] },
  { what: 'a message that was acknowledged is stored', simulated: CHECKS, tests: ['e2e/crash', 'journal/kill'] },
  { what: 'a message id is stored once', simulated: MAIL, tests: ['core/rules/message'] },
  { what: 'shown once for each session, or marked', simulated: MAIL, tests: ['e2e/chaos', 'teammate/mail'] },
  {
    what: 'messages of a pair stay in order; a broadcast reaches all',
    simulated: `${MAIL} and ${NATIVE} (order), ${REST} (reaches all)`,
    tests: ['ledger/mailbox'],
  },
  {
    what: 'unreadable is not empty',
    simulated: `${NATIVE}, ${CHECKS} (a team is not denied)`,
    tests: ['bridge/garbage', 'journal/sqlite-damage'],
  },
  { what: 'no message into a file that nobody reads', simulated: REST, tests: ['ledger/mailbox', 'bridge/mail'] },
  { what: 'files are read whole', simulated: NATIVE, tests: ['bridge/files', 'journal/sqlite-log'] },
  {
    what: 'a full or failing disk refuses and recovers',
    simulated: `kind sqlite, ${REST}, ${TRACES}`,
    tests: ['ledger/disk', 'journal/sqlite-disk'],
  },
  { what: 'a failed flush counts as not written', tests: ['journal/sqlite-disk', 'journal/sqlite-log'] },
  {
    what: 'locks of others are kept, and stolen only if stale',
    simulated: 'native/lock-checks.ts',
    tests: ['bridge/lock'],
  },
  { what: 'one live process for each member', simulated: `${CHECKS}, ${REST}`, tests: ['runtime/supervisor'] },
  { what: 'processes are recorded before they start', simulated: REST, tests: ['runtime/supervisor', 'e2e/crash'] },
  { what: 'no process is left', simulated: `${REST}, ${MEMBERS}`, tests: ['e2e/leftovers'] },
  {
    what: 'only recorded processes are signalled',
    simulated: 'processes.ts (every signal)',
    tests: ['agents/process-table', 'runtime/supervisor', 'e2e/leftovers'],
  },
  {
    what: 'restarts are limited, and nobody is forgotten',
    simulated: `${RESTARTS}, ${MEMBERS} (nobody is forgotten)`,
    tests: ['core/restarts', 'runtime/departure'],
  },
  {
    what: 'depth, members, pace and budgets are limited',
    simulated: `${CHECKS} (members)`,
    tests: ['core/rules/pace', 'core/member-count', 'core/budget'],
  },
  {
    what: 'one daemon for each state directory',
    simulated: 'machine.ts (one has the journal), kind sqlite',
    tests: ['journal/owner', 'e2e/crash'],
  },
  { what: 'no text becomes part of a command line', tests: ['runtime/hooks/run-program', 'mcp/forgery'] },
  { what: 'a hook runs only with approved content', tests: ['runtime/hooks/approvals', 'runtime/hooks/team-hooks'] },
  {
    what: 'a hook ends in time, to its last child',
    simulated: `${MEMBERS}, ${REST}`,
    tests: ['runtime/hooks/run-program'],
  },
  { what: 'paths stay inside their root', tests: ['bridge/garbage', 'core/text'] },
  {
    what: 'the sender comes from the credential',
    simulated: `${CHECKS} (who asked)`,
    tests: ['server/identity', 'mcp/forgery'],
  },
  { what: 'text is never protocol', tests: ['mcp/forgery', 'core/envelope', 'bridge/mail'] },
  { what: 'no content can approve or configure', tests: ['core/authority', 'mcp/forgery'] },
  { what: 'every endpoint checks Host, Origin and token', tests: ['server/refusals', 'server/browser'] },
  { what: 'every request waits for a person, with a deadline', simulated: REST, tests: ['runtime/deadlines'] },
  {
    what: 'no decision compares the clocks of two machines',
    simulated: 'clocks jump in all runs',
    tests: ['nats', 'journal/nats-lease'],
  },
  {
    what: 'a machine that wakes checks its leases first',
    simulated: `${CHECKS} (who calls from where)`,
    tests: ['runtime/hosts', 'journal/nats-lease'],
  },
  {
    what: 'the durability of a backend is shown',
    simulated: 'kind nats, machine.ts',
    tests: ['journal/nats-refusals', 'runtime/backend'],
  },
  {
    what: 'the journal gives the present state',
    simulated: `${CHECKS} (replays every batch), ${MEMORY}`,
    tests: ['core/evolve', 'ledger/model'],
  },
];

/** The names of all test files that the table names, below `test/`. */
export const NAMED_TESTS: readonly string[] = INVARIANTS.flatMap(({ tests }) => tests);

/** The table of `docs/proof.md`. */
export function renderInvariants(): string {
  const rows = INVARIANTS.map(
    ({ what, simulated = '', tests }, at) => `| ${at + 1} | ${what} | ${simulated} | ${tests.join(', ')} |`,
  );
  const count = INVARIANTS.filter(({ simulated }) => simulated !== undefined).length;
  return `## Which check is for which promise

The simulator checks ${count} of ${INVARIANTS.length} promises, in whole or in part. Files of checks are in \`test/simulator/\`, the others in \`test/\`.

| | promise | in the simulator | other tests, among others |
|---|---|---|---|
${rows.join('\n')}
`;
}
