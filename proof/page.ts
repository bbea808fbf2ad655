import { BUGS } from '../test/simulator/bugs.ts';
import type { Figure } from './figure.ts';
import { renderInvariants } from './invariants.ts';
import { MUTANT_MS, SLOW_MS, WHOLE_FILES, WHOLE_MS } from './mutations/lane.ts';
import { renderMutations } from './mutations/page.ts';
import type { FigureResult } from './results.ts';

/** `docs/proof.md`: every figure with its goal, what was measured, and where. */
export function renderPage(figures: readonly Figure[], results: readonly FigureResult[]): string {
  const rows = figures.map((figure) => {
    const result = results.find(({ name }) => name === figure.name);
    const measured = result ? `${result.met ? '' : '**missed**: '}${result.measured}` : 'not measured yet';
    const where = result ? `${result.date}, ${result.commit}` : '';
    return `| ${figure.name} | ${figure.what} | ${figure.goal} | ${measured} | ${where} |`;
  });
  const machines = [...new Set(results.map(({ machine }) => machine))].map((machine) => `- ${machine}`);
  return `<!-- Written by npm run proof. Change proof/page.ts, not this file. -->

# What Troupe survives

Each figure is measured with real processes, files and servers. To measure one again:

\`\`\`sh
npm run proof -- NAME          # as below; npm run proof -- --list says how long it takes
npm run proof -- --quick NAME  # the same code with few repetitions
\`\`\`

| name | what | goal | measured | date, commit |
|---|---|---|---|---|
${rows.join('\n')}

Machines:

${machines.join('\n')}

Details, with the seed that repeats what each test drew at random: [proof/results.json](../proof/results.json).

## What the simulator finds

Bugs that Troupe once had, brought back one at a time: \`TROUPE_SIMULATED_BUG=BUG npm run simulate -- --kind KIND --steps 1000000\`. Within a
million steps from seed 1 the simulator finds ${BUGS.filter(({ found }) => found).length} of ${BUGS.length} (2026-11-18; four of kind
\`bridge\`, and signals to others, 2026-11-19). Later changes of the product or of the simulator move these numbers.

| bug | kind | mended by | found after | in seed |
|---|---|---|---|---|
${BUGS.map(({ name, kind = 'team', mendedBy, found }) => `| ${name} | ${kind} | ${mendedBy} | ${found ? `${found.steps.toLocaleString('en-US')} steps | ${found.seed}` : 'not found |'} |`).join('\n')}

${renderInvariants()}
${renderMutations(results)}
## What this does not cover

- A real machine that loses power. The order of writes and flushes is tested (\`test/journal/sqlite-disk.test.ts\`), and the simulator tears what was
  not flushed; the disk itself is not tested.
- Disks that lie about flushes, file systems over a network, macOS.
- Real models. The agents are the real programs, and their models follow a script on the same machine.
- Machines far apart. Several machines are several daemons on one machine, with links that are cut.
- The simulator runs models of git, agents, the programs of gates and Claude Code's file writes, which fail as the real ones were seen to
  fail. Its runs with a native team (\`--kind bridge\`) have one machine. It does not simulate: native members in seats, native teams that
  Troupe leads, leads that resume or remove a team, gates in a sandbox or bound to an approved content, hooks of new tasks and idle members.
- In runs of the kind \`sqlite\` the journal is the real adapter on the real SQLite: calls fail (full disk, I/O error), and the daemon is killed between
  any two, before or after they take effect. The machine also loses power in the middle of a call: then each sector of what that call wrote to the log,
  or from the log to the file, is on the disk or is not. A flush that fails is not simulated there (\`test/journal/sqlite-disk.test.ts\`).
- In runs of the kind \`nats\` the NATS adapter and its library are real, and three servers are a model (\`test/simulator/nats/\`) that passes the
  journal's contract as real servers do (\`test/journal/nats-model.test.ts\`). It elects leaders, loses proposals, answers late, twice or never, and
  is parted. It has no servers that keep different histories for good, no TLS, no credentials and no packs; real servers are tested for these.
- A kill at each system call covers the daemon's own files, not those of git.
- Mutants are tried by the tests of their room that take at most ${SLOW_MS / 1_000} s, and by at most ${MUTANT_MS / 1_000} s of tests, those first that are about its file. A mutant of what runs
  when a module is loaded is tried by at most ${WHOLE_FILES} test files that import or reach the module, for at most ${WHOLE_MS / 1_000} s. The tests of the whole program are not used. A process that was started before a test
  began (a daemon that several tests share) does not have the mutant of that test.
`;
}
