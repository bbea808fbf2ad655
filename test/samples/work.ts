import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { evolve } from '../../src/core/evolve.ts';
import type { WorkOverlap } from '../../src/core/overlap.ts';
import type { TeamWork } from '../../src/core/team-work.ts';
import type { NewCommand } from '../../src/ledger/ledger.ts';
import type { Stage } from '../core/stage.ts';
import type { Stage as ServerStage } from '../server/stage.ts';
import { makeRepository, plainGit } from '../workspaces/project.ts';
import type { CommandSamples, EventSamples, OperationSamples } from './sample.ts';
import { heldTask } from './task.ts';

/** A commit, by a digit. */
export const commit = (digit: number | string): string => String(digit).repeat(40).slice(0, 40);

export const WORK: TeamWork = {
  workspaces: 'own',
  repository: '/project',
  prefix: '',
  base: commit(1),
  branch: 'troupe/alpha',
};

/** Gives the team workspaces, and one to `ann`, who works on task 1. */
function workApart({ state, now: at }: Stage): void {
  const joined = {
    memberId: 'ann',
    sessionId: 's',
    role: 'r',
    agentType: 'exec',
    planApprovalRequired: false,
  } as const;
  evolve(state, { type: 'team:updated', at, by: '@user', work: WORK });
  evolve(state, {
    type: 'teammate:joined',
    at,
    by: '@user',
    ...joined,
    status: 'active',
    backendType: 'subprocess',
    workspace: 'own',
  });
}

/** `ann` and `bob` at work. */
const SIDES: WorkOverlap['sides'] = [
  { memberId: 'ann', taskId: '1', epoch: 1 },
  { memberId: 'bob', taskId: '2', epoch: 1 },
];

/** What `ann` hands in for task 1. */
const HANDED_IN = {
  memberId: 'ann',
  epoch: 1,
  base: commit(1),
  commit: commit(2),
  files: 1,
  added: 2,
  removed: 0,
  paths: ['a.txt'],
};

/** The work of `ann` waits in the merge queue. */
function workSubmitted(team: Stage): void {
  workApart(team);
  team.as('ann', 'work.submit', { taskId: '1', ...HANDED_IN });
}

const LANDING = {
  landingId: 'l1',
  hostId: 'h1',
  onto: commit(1),
  merged: commit(3),
  works: [{ taskId: '1', epoch: 1, commit: commit(2) }],
};

/** The gates accept the work of `ann`, and a person has to approve it. */
function workAccepted(team: Stage): void {
  workSubmitted(team);
  evolve(team.state, { type: 'team:updated', at: team.now, by: '@user', work: { ...WORK, approve: 'always' } });
  team.as('@system', 'landing.begin', LANDING);
}

const ASKED = { taskId: '1', epoch: 1, commit: commit(2), landingId: 'l1', onto: commit(1), merged: commit(3) };

export const WORK_COMMANDS: CommandSamples<'work'> = {
  'work.begin': {
    by: 'ann',
    input: { taskId: '1', memberId: 'ann', epoch: 1, base: commit(1) },
    events: ['work:begun'],
    before: workApart,
  },
  'work.submit': {
    by: 'ann',
    input: { taskId: '1', ...HANDED_IN, result: 'done' },
    events: ['work:submitted'],
    before: workApart,
  },
  'work.ask': { by: '@system', input: ASKED, events: ['work:asked', 'request:raised'], before: workAccepted },
  'work.review': {
    by: '@user',
    input: {
      taskId: '1',
      commit: commit(2),
      approve: false,
      summary: 'not yet',
      comments: [{ path: 'a.txt', line: 1, text: 'why?' }],
    },
    events: ['request:answered', 'task:rejected'],
    before(team) {
      workAccepted(team);
      team.as('@system', 'work.ask', ASKED);
    },
  },
  'work.keep': {
    by: '@system',
    input: { memberId: 'ann', commit: commit(2), ref: 'refs/saves/alpha/ann', why: 'it belongs to no task' },
    events: ['work:kept'],
  },
  'work.lose': {
    by: '@system',
    input: { from: commit(1), to: commit(2), works: [{ taskId: '1', merged: commit(1) }], why: 'it was removed' },
    events: ['work:lost'],
    before: workApart,
  },
  'work.overlap': {
    by: '@system',
    input: { sides: SIDES, files: 1, paths: ['a.txt'], conflicts: ['a.txt'] },
    events: ['work:overlapped', 'message:sent'],
    before: (team) => team.as('bob', 'task.claim', { taskId: '2' }),
  },
};

const ENDED = { landingId: 'l1', how: 'red', why: 'the tests fail' } as const;

export const LANDING_COMMANDS: CommandSamples<'landing'> = {
  'landing.begin': { by: '@system', input: LANDING, events: ['landing:begun'], before: workSubmitted },
  'landing.end': {
    by: '@system',
    input: ENDED,
    events: ['landing:ended'],
    before(team) {
      workSubmitted(team);
      team.as('@system', 'landing.begin', LANDING);
    },
  },
};

export const LANDING_EVENTS: EventSamples<'landing'> = { 'landing:begun': LANDING, 'landing:ended': ENDED };

const MOVED = { from: commit(1), to: commit(5) };
const REFUSED = { commit: commit(5), ref: 'refs/deleted/alpha/1' };

export const TIP_COMMANDS: CommandSamples<'tip'> = {
  'tip.move': { by: '@user', input: MOVED, events: ['tip:moved'], before: workApart },
  'tip.refuse': { by: '@system', input: REFUSED, events: ['tip:refused', 'message:sent'], before: workApart },
};

export const TIP_EVENTS: EventSamples<'tip'> = { 'tip:moved': MOVED, 'tip:refused': REFUSED };

const PACK = { commit: commit(4), hash: 'a'.repeat(64), size: 500 };

export const WORK_EVENTS: EventSamples<'work'> = {
  'work:begun': { taskId: '1', memberId: 'ann', epoch: 1, base: commit(1) },
  'work:submitted': { taskId: '1', ...HANDED_IN, pack: undefined, result: 'done' },
  'work:left': { taskId: '1', epoch: 1 },
  'work:withdrawn': { taskId: '1', epoch: 1, why: 'the task was released' },
  'work:asked': { ...ASKED, pack: undefined },
  'work:approved': { taskId: '1', epoch: 1, commit: commit(2) },
  'work:landed': {
    taskId: '1',
    epoch: 1,
    commit: commit(2),
    onto: commit(1),
    merged: commit(3),
    landingId: 'l1',
    pack: PACK,
  },
  'work:conflicted': { taskId: '1', epoch: 1, commit: commit(2), onto: commit(1), files: ['a.txt'] },
  'work:overlapped': { sides: SIDES, files: 1, paths: ['a.txt'], conflicts: [] },
  'work:lost': { from: commit(3), to: commit(1), works: [{ taskId: '1', merged: commit(3) }], why: 'it was removed' },
  'work:kept': { memberId: 'ann', taskId: undefined, commit: commit(2), ref: 'refs/saves/alpha/ann', why: 'no task' },
};

export const WORK_OPERATIONS: OperationSamples<'work'> = {
  'work.show': async (stage) => ({ input: await giveWork(stage) }),
  'work.diff': async (stage) => ({ input: { ...(await giveWork(stage)), stat: false } }),
  'work.files': async (stage) => ({ input: await giveWork(stage) }),
  'work.lines': async (stage) => {
    const { teamId } = await giveWork(stage);
    const base = (await stage.ledger.view(teamId, ({ team }) => team?.work?.base)) ?? '';
    return { input: { teamId, from: base, to: base, path: 'README.md' } };
  },
  'work.check': async (stage) => ({ input: await giveWorkspace(stage) }),
  'work.refresh': async (stage) => ({ input: await giveWorkspace(stage), as: 'runner' }),
  'work.trust': async (stage) => ({ input: await giveWorkspace(stage) }),
  'work.locate': async (stage) => {
    const name = `repository-of-${stage.teamId}`;
    const { teamId } = await giveWork(stage, name);
    const folder = join(stage.home.directory, `${name}-moved`);
    renameSync(join(stage.home.directory, name), folder);
    return { input: { teamId, folder } };
  },
  'work.take': async (stage) => {
    const { teamId } = await giveWork(stage);
    plainGit(join(stage.home.directory, 'repository'), 'commit', '-q', '--allow-empty', '-m', 'mine');
    return { input: { teamId, what: 'HEAD', rewrite: false } };
  },
  'work.merge': async (stage) => ({ input: await giveWork(stage) }),
  'work.leftovers': async () => ({ input: {} }),
  'work.disk': async () => ({ input: {} }),
  'work.clean': async () => ({ input: { ids: ['trash'] } }),
  'work.saves': async (stage) => ({ input: await giveWork(stage) }),
  'work.restore': async (stage) => {
    const { teamId } = await giveWork(stage);
    const agent = { kind: 'exec', command: ['true'] } as const;
    await stage.act('member.add', { teamId, name: 'saver', status: 'idle', agent });
    const opened = await stage.act('work.open', { teamId, memberId: 'saver' });
    writeFileSync(join(opened?.folder ?? '', 'new.txt'), 'new\n');
    await stage.act('work.save', { teamId, memberId: 'saver' });
    const [save] = await stage.act('work.saves', { teamId });
    return { input: { teamId, save: save?.commit ?? '' } };
  },
  'work.review': async (stage) => {
    const { teamId, taskId } = await heldTask(stage);
    await giveWork(stage);
    const now = await stage.ledger.view(teamId, ({ team }) => team?.work);
    const onto = now?.base ?? '';
    const work = { ...WORK, repository: now?.repository ?? '', base: onto, branch: `troupe/${teamId}` };
    const name = { taskId, epoch: 1, commit: commit(2) };
    const size = { files: 1, added: 1, removed: 0, paths: ['a.txt'] };
    const judged = { landingId: 'l1', onto, merged: commit(3) };
    // In one step, so that the merge queue never sees it.
    const asked: NewCommand[] = [
      { type: 'team.update', by: '@user', work: { ...work, approve: 'always' } },
      { type: 'work.submit', by: 'worker', ...name, memberId: 'worker', base: onto, ...size },
      { type: 'landing.begin', by: '@system', hostId: 'h1', ...judged, works: [name] },
      { type: 'work.ask', by: '@system', ...name, ...judged },
    ];
    await stage.ledger.execute(teamId, asked, () => undefined);
    return { input: { teamId, taskId, commit: commit(2), approve: false, comments: ['a.txt:1: why?'] } };
  },
  'work.open': async ({ teamId }) => ({ input: { teamId, memberId: 'worker' }, as: 'worker' }),
  'work.begin': async (stage) => {
    const { teamId, taskId } = await heldTask(stage);
    return { input: { teamId, taskId, memberId: 'worker', epoch: 1 }, as: 'worker' };
  },
  'work.setup': async ({ teamId }) => ({ input: { teamId, memberId: 'worker' } }),
  'work.save': async ({ teamId }) => ({ input: { teamId, memberId: 'worker' }, as: 'worker' }),
};

async function giveWorkspace(stage: ServerStage): Promise<{ teamId: string; memberId: string }> {
  const { teamId } = await giveWork(stage);
  await stage.act('member.spawn', { teamId, name: 'runner', agent: { kind: 'exec', command: ['true'] } });
  return { teamId, memberId: 'runner' };
}

/**
 * Gives the stage's team a branch. Teams of a server share a repository, because some reads look into the depot of each.
 */
async function giveWork({ ledger, home, teamId }: ServerStage, name = 'repository'): Promise<{ teamId: string }> {
  const repository = join(home.directory, name);
  const base = existsSync(repository)
    ? readFileSync(join(repository, '.git/refs/heads/main'), 'utf8').trim()
    : makeRepository(repository);
  const work = { ...WORK, repository, base, branch: `troupe/${teamId}` };
  await ledger.execute(teamId, { type: 'team.update', by: '@user', work }, () => undefined);
  return { teamId };
}
