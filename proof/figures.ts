import { branchesOf, coveredOf } from './coverage.ts';
import type { Figure, Sums } from './figure.ts';
import { ROOMS } from './mutations/rooms.ts';
import { percent } from './mutations/score.ts';
import { COVERED_ROOMS } from './rooms.ts';

/** What is measured, in the order of the page. The goals are those of a release. */
export const FIGURES: readonly Figure[] = [
  {
    name: 'lost',
    what: 'Acknowledged operations that are lost when processes are killed',
    goal: '0 of 1,000,000, with 1,000 times kill -9',
    parts: [
      { test: 'journal/kill', minutes: 12 },
      { test: 'daemon/crash', minutes: 8 },
      { test: 'daemon/decisions', minutes: 5 },
    ],
    judge: (facts) => ({
      measured: `0 of ${show(facts.count('acknowledged'))}, with ${show(facts.count('kills'))} kills`,
      met: facts.count('acknowledged') >= 1_000_000 && facts.count('kills') >= 1_000,
    }),
  },
  {
    name: 'shown',
    what: 'Messages shown twice without a mark when daemon and members are killed',
    goal: '0 of 100,000',
    parts: [
      { test: 'daemon/shown', minutes: 12 },
      { test: 'e2e/chaos', minutes: 6 },
    ],
    judge: (facts) => ({
      measured: `0 of ${show(facts.count('shown'))}, with ${show(facts.count('kills'))} kills; ${show(facts.count('again'))} shown again, marked`,
      met: facts.count('shown') >= 100_000,
    }),
  },
  {
    name: 'holders',
    what: 'Tasks with two holders, and stale writes that are accepted',
    goal: '0 of 100,000 claims by 8 processes; 0 with several daemons while stream leaders change',
    parts: [
      { test: 'ledger/race', minutes: 12 },
      { test: 'journal/nats-cluster', minutes: 15 },
      { test: 'e2e/machines/chaos', minutes: 8 },
    ],
    judge: (facts) => ({
      measured: `0 of ${show(facts.count('claims'))} claims; 0 of ${show(facts.count('contests'))} contests between two daemons with ${facts.count('leaderChanges')} changes of leaders`,
      met: facts.count('claims') >= 100_000 && facts.count('contests') >= 1_000,
    }),
  },
  {
    name: 'reclaim',
    what: 'Time until the task of a dead member is free',
    goal: 'p99 at most 5 s; at most 35 s if its machine died (lease 30 s)',
    parts: [{ test: 'e2e/reclaim', minutes: 12 }],
    judge: (facts) => ({
      measured: `${seconds(facts.p99('local'))} s (p99 of ${facts.samples('local').length}); ${seconds(facts.most('remote'))} s (most of ${facts.samples('remote').length} machines)`,
      met: facts.p99('local') <= 5_000 && facts.most('remote') <= 35_000,
    }),
  },
  {
    name: 'sweep',
    what: 'System calls at which a kill tears a file or loses what was acknowledged',
    goal: '0 of at least 500, each struck once',
    parts: [{ test: 'daemon/sweep', minutes: 6 }],
    judge: (facts) => ({
      measured: `0 of ${show(facts.count('points'))}${skips(facts)}`,
      met: facts.count('points') >= 500,
    }),
  },
  {
    name: 'simulated',
    what: 'Promises broken in a simulation with faults (crash, partition, torn write, late answers, clock jumps)',
    goal: '0 in 1,000,000 steps',
    parts: [{ test: 'simulator/simulator', minutes: 12 }],
    judge: (facts) => ({
      measured: `0 in ${show(facts.count('steps'))} steps`,
      met: facts.count('steps') >= 1_000_000,
    }),
  },
  {
    name: 'leftovers',
    what: 'Processes that are left 10 s after a team was stopped or killed',
    goal: '0 in 200 runs; no foreign process touched',
    parts: [{ test: 'e2e/leftovers', minutes: 20 }],
    judge: (facts) => ({
      measured: `0 in ${show(facts.count('runs'))} runs; the last was gone after ${seconds(facts.most('waits'))} s`,
      met: facts.count('runs') >= 200 && facts.most('waits') <= 10_000,
    }),
  },
  {
    name: 'gates',
    what: 'Gates that misbehave: hang, ignore signals, leave their group, print 100 MB, change, end in every way',
    goal: 'every verdict right, within timeout + 6 s; at most 8 MB more memory held afterwards',
    parts: [
      { test: 'runtime/hooks/verdict', minutes: 1 },
      { test: 'runtime/hooks/team-hooks', minutes: 1 },
      { test: 'runtime/hooks/approvals', minutes: 1 },
      { test: 'runtime/hooks/executors', minutes: 1 },
    ],
    judge: (facts) => ({
      measured: `${facts.count('tests')} cases right; at most ${seconds(facts.most('overshootMs'))} s after the timeout; ${Math.round(facts.most('heldKb') / 1024)} MB more memory held after ${facts.count('printed')} times 100 MB, ${Math.round(facts.most('peakKb') / 1024)} MB at the peak${skips(facts)}`,
      met: facts.most('overshootMs') <= 6_000 && facts.most('heldKb') <= 8 * 1024,
    }),
  },
  {
    name: 'hostile',
    what: 'Hostile requests that are let in, malformed frames that do harm, and clients that never read',
    goal: 'every address refuses every bad token, Origin and Host; 1,000,000 frames and no error; 1,000 connections with 64 MB more memory, others wait at most 50 ms (p99)',
    parts: [
      { test: 'server/refusals', minutes: 8 },
      { test: 'server/fuzz', minutes: 25 },
      { test: 'server/load', minutes: 3 },
    ],
    judge: (facts) => ({
      measured: `${show(facts.count('refused'))} requests refused; ${show(facts.count('frames'))} frames, no error; ${show(facts.count('connections'))} connections with ${facts.most('grownMb')} MB more, others wait ${facts.p99('answerMs')} ms`,
      met:
        facts.count('frames') >= 1_000_000 &&
        facts.count('connections') >= 1_000 &&
        facts.most('grownMb') <= 64 &&
        facts.p99('answerMs') <= 50,
    }),
  },
  {
    name: 'damage',
    what: 'Damaged files that stop the daemon, spread to other teams, or lose what is good',
    goal: '0, for every kind of file; 1,000 teams are there 3 s after a start',
    parts: [
      { test: 'journal/sqlite-damage', minutes: 1 },
      { test: 'daemon/garbage', minutes: 1 },
      { test: 'bridge/garbage', minutes: 3 },
      { test: 'daemon/status', minutes: 2 },
    ],
    judge: (facts) => ({
      measured: `0 of ${show(facts.count('damaged'))} damaged files and ${facts.count('tests')} cases; ${show(facts.count('teams'))} teams after ${seconds(facts.most('startMs'))} s${skips(facts)}`,
      met: facts.count('teams') >= 1_000 && facts.most('startMs') <= 3_000,
    }),
  },
  {
    name: 'soak',
    what: 'Growth of what a daemon under steady load holds: memory, descriptors, timers, processes, files, latency',
    goal: 'flat from the tenth minute on, for 2 hours: at most 10 % a day by the fitted line, or none beyond noise',
    parts: [{ test: 'e2e/soak', minutes: 125 }],
    judge: (facts) => ({
      measured: `${facts.count('soakMinutes')} minutes, ${show(facts.count('soakTeams'))} teams made and deleted: all ${facts.count('soakSeries')} series flat; heap ${growth(facts.most('soakHeap'))} a day, private memory ${growth(facts.most('soakPrivate'))}`,
      met: facts.count('soakMinutes') >= 120,
    }),
  },
  {
    name: 'day',
    what: 'What grows in 24 simulated hours, besides what a team did: events of a team that rests, timers, waits, receipts, memory',
    goal: 'nothing, in days without faults, with 1,440 faults, and with two machines',
    parts: [{ test: 'simulator/day', minutes: 10 }],
    judge: (facts) => ({
      measured: `nothing in ${facts.samples('days').length} days, ${show(facts.count('simulatedHours'))} hours in all, ${show(facts.count('batches'))} batches; old daemons hold at most ${show(facts.most('olderKb'))} KB more than new ones`,
      met: facts.samples('days').length >= 3 && Math.min(...facts.samples('days')) >= 24,
    }),
  },
  {
    name: 'million',
    what: 'Time to open the journal of a team with a million events',
    goal: 'at most 2.5 times reading the same bytes and JSON.parse',
    parts: [{ test: 'journal/million', minutes: 6 }],
    judge: (facts) => ({
      measured: `${facts.most('openTimes').toFixed(2)} times, ${seconds(facts.most('openMs'))} s for ${show(facts.count('openedEvents'))} events`,
      met: facts.count('openedEvents') >= 1_000_000 && facts.most('openTimes') <= 2.5,
    }),
  },
  {
    name: 'work',
    what: 'Commits lost by workspaces and the merge queue when daemon and agents are killed',
    goal: '0 with 500 kills; each work lands once',
    parts: [
      { test: 'workspaces/kill', minutes: 15 },
      { test: 'runtime/landing/kill', minutes: 60 },
      { test: 'e2e/work-kills', minutes: 15 },
    ],
    judge: (facts) => ({
      measured: `0 with ${show(facts.count('kills'))} kills: ${show(facts.count('saves'))} saves there, ${show(facts.count('works'))} works landed once`,
      met: facts.count('kills') >= 500,
    }),
  },
  {
    name: 'night',
    what: 'Tasks that fail because an account reached its limit, in a simulated night',
    goal: '0',
    parts: [{ test: 'teammate/night', minutes: 1 }],
    judge: (facts) => ({
      measured: `0 of ${facts.count('nightTasks')}`,
      met: facts.count('nightTasks') >= 120,
    }),
  },
  {
    name: 'coverage',
    what: 'Branches of the rules, the store and the checks of credentials that a test reaches',
    goal: '100 % of core, ledger, journal and auth (`proof/rooms.ts`)',
    parts: [{ covers: COVERED_ROOMS, minutes: 5 }],
    judge: (facts) => ({
      measured: COVERED_ROOMS.map(({ name }) => share(facts, name)).join('; '),
      met: COVERED_ROOMS.every(
        ({ name }) =>
          facts.count(branchesOf(name)) > 0 && facts.count(coveredOf(name)) === facts.count(branchesOf(name)),
      ),
    }),
  },
  {
    name: 'mutations',
    what: `Changes of the source code (mutants) that a test notices, in ${ROOMS.map(({ name }) => name).join(', ')}`,
    goal: 'at least 90 % of each room',
    parts: ROOMS.map(({ name, minutes }) => ({ mutates: name, minutes })),
    judge: (facts) => ({
      measured: `${show(facts.count('killed'))} of ${show(facts.count('tried'))}, a random sample of ${show(facts.count('mutants'))}; at least ${percent(Math.min(...facts.samples('shares')))} of each room`,
      met: facts.samples('shares').length === ROOMS.length && Math.min(...facts.samples('shares')) >= 0.9,
    }),
  },
];

/** Never rounded up: 100 % means all. */
function share(facts: Sums, room: string): string {
  const [covered, all] = [facts.count(coveredOf(room)), facts.count(branchesOf(room))];
  return `${room} ${(Math.floor((covered / all) * 1_000) / 10).toFixed(1)} % (${show(covered)} of ${show(all)})`;
}

function show(count: number): string {
  return count.toLocaleString('en-US');
}

function seconds(ms: number): string {
  return (ms / 1_000).toLocaleString('en-US', { maximumFractionDigits: 1 });
}

function growth(share: number): string {
  return share.toLocaleString('en-US', { style: 'percent', maximumFractionDigits: 1, signDisplay: 'exceptZero' });
}

/** A test that could not run here is told, so that nobody takes it for a success. */
function skips(facts: Sums): string {
  const skipped = facts.count('skipped');
  return skipped === 0 ? '' : `; ${skipped} cases could not run here`;
}
