import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SYSTEM } from '../../src/core/actor.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import { writePackage } from '../../src/runtime/team-package.ts';
import { INNER_OPERATIONS } from '../samples/inner.ts';
import type { OperationSamples } from '../samples/sample.ts';
import { heldTask, TASK_OPERATIONS } from '../samples/task.ts';
import { WORK_OPERATIONS } from '../samples/work.ts';
import type { Stage } from './stage.ts';

async function newMail({ act, teamId }: Stage): Promise<{ teamId: string; memberId: string; messageIds: string[] }> {
  const { id } = await act('message.send', { teamId, toId: 'worker', content: 'Hello' }, 'lead');
  return { teamId, memberId: 'worker', messageIds: [id] };
}

async function askedShutdown({ act, teamId }: Stage): Promise<{ teamId: string; requestId: string }> {
  return { teamId, requestId: (await act('shutdown.request', { teamId, memberId: 'worker' }, 'lead')).id };
}

async function handedPlan({ act, teamId }: Stage): Promise<{ teamId: string; requestId: string }> {
  await act('member.add', { teamId, name: 'planner', planApprovalRequired: true });
  return { teamId, requestId: (await act('plan.submit', { teamId, content: 'First this, then that' }, 'planner')).id };
}

async function askedPerson({ act, teamId }: Stage): Promise<{ teamId: string; requestId: string }> {
  const question = { teamId, kind: 'permission', memberId: 'worker', content: 'May I?' } as const;
  return { teamId, requestId: (await act('request.raise', question, 'worker')).id };
}

async function askedAboutWork(stage: Stage): Promise<{ teamId: string; requestId: string }> {
  const { teamId, taskId } = await heldTask(stage);
  const asks = { kind: 'gate', memberId: 'worker', taskId, content: 'Look at it' } as const;
  const raise = { type: 'request.raise', by: SYSTEM, ...asks } as const;
  const requestId = await stage.ledger.execute(teamId, raise, ({ requests }) => [...requests.keys()].at(-1) ?? '');
  return { teamId, requestId };
}

async function newNote({ act, teamId }: Stage): Promise<{ teamId: string; noteId: string }> {
  const note = { teamId, text: 'The port is 8080', tags: ['net'] };
  return { teamId, noteId: (await act('note.add', note, 'worker')).id };
}

async function newHook({ act, teamId }: Stage): Promise<{ teamId: string; type: 'TaskCompleted' }> {
  await act('hook.register', { teamId, type: 'TaskCompleted', command: 'true' });
  return { teamId, type: 'TaskCompleted' };
}

async function runningMember({ act, teamId }: Stage): Promise<{ teamId: string; memberId: string }> {
  await act('member.spawn', { teamId, name: 'runner', agent: { kind: 'exec', command: ['true'] } });
  return { teamId, memberId: 'runner' };
}

/** A native team whose lead is gone. */
function leftTeam({ home, teamId }: Stage): string {
  const name = `${teamId}-left-behind`;
  const folder = join(home.directory, 'claude/teams', name);
  mkdirSync(folder, { recursive: true });
  const member = { name: 'team-lead', agentId: `team-lead@${name}`, cwd: home.directory };
  const config = { name, leadAgentId: member.agentId, members: [member] };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  return name;
}

/** A native teammate that its lead has just added, and the agent that will play it. */
function seatIn(stage: Stage) {
  const name = leftTeam(stage);
  const path = join(stage.home.directory, 'claude/teams', name, 'config.json');
  const config = JSON.parse(readFileSync(path, 'utf8')) as { members: object[] };
  const poet = { name: 'poet', agentId: `poet@${name}`, joinedAt: Date.now(), tmuxPaneId: '%1', backendType: 'tmux' };
  writeFileSync(path, JSON.stringify({ ...config, members: [...config.members, poet] }));
  const agent = { kind: 'exec' as const, command: ['true'] };
  return { name, member: 'poet', agent, cwd: stage.home.directory, ticket: 'one' };
}

const teamFile = ({ teamId }: Stage): string => `
team: ${teamId}-fresh
members:
  - { name: builder, agent: { exec: [make, all] } }
tasks:
  - { id: build, title: Build it, assign: builder }
  - { title: Try it, needs: [build] }
hooks:
  TaskCompleted: { command: make check }
`;

/** A sample for each operation; the compiler reports missing ones. */
export const SAMPLES: OperationSamples = {
  'team.create': async ({ teamId }) => ({ input: { name: `${teamId}-fresh`, description: 'A team' } }),
  'team.list': async () => ({ input: {} }),
  'team.show': async ({ teamId }) => ({ input: { teamId } }),
  'team.status': async ({ teamId }) => ({ input: { teamId } }),
  'team.update': async ({ teamId }) => ({ input: { teamId, description: 'Other words' } }),
  'team.close': async ({ teamId }) => ({ input: { teamId, force: true } }),
  'team.down': async (stage) => {
    await runningMember(stage);
    return { input: { teamId: stage.teamId, force: true, reason: 'done' } };
  },
  'team.rest': async (stage) => {
    await runningMember(stage);
    return { input: { teamId: stage.teamId, reason: 'enough for today' } };
  },
  'team.attend': async ({ teamId }) => ({ input: { teamId, wait: 1 } }),
  'team.digest': async (stage) => {
    const task = await heldTask(stage);
    await stage.act('task.complete', { ...task, result: 'They pass' }, 'worker');
    return { input: { teamId: stage.teamId, after: 1 } };
  },
  'team.report': async (stage) => {
    const task = await heldTask(stage);
    await stage.act('task.complete', { ...task, result: 'They pass' }, 'worker');
    return { input: { teamId: stage.teamId } };
  },
  'team.search': async (stage) => {
    await newMail(stage);
    await newNote(stage);
    return { input: { text: 'the', teamId: stage.teamId, limit: 5 } };
  },
  'team.check': async (stage) => ({ input: { source: teamFile(stage), folder: stage.home.directory } }),
  'team.up': async (stage) => ({ input: { source: teamFile(stage), folder: stage.home.directory, yes: true } }),
  'team.save': async (stage) => ({
    input: { source: teamFile(stage), folder: stage.home.directory, replace: true },
  }),
  'team.run': async ({ home, teamId }) => ({
    input: { goal: 'Tidy up', lead: 'claude', name: `${teamId}-tidy`, folder: home.directory },
  }),
  'team.delete': async ({ teamId }) => ({ input: { teamId, force: true } }),
  'member.add': async ({ teamId }) => ({ input: { teamId, name: 'fresh', role: 'tester' } }),
  'member.spawn': async ({ teamId }) => ({
    input: { teamId, name: 'fresh', prompt: 'Test it', agent: { kind: 'exec', command: ['make', 'test'] } },
  }),
  'member.restart': async (stage) => ({ input: await runningMember(stage) }),
  'member.stop': async (stage) => ({ input: { ...(await runningMember(stage)), reason: 'done' } }),
  'session.list': async (stage) => {
    await runningMember(stage);
    return { input: { teamId: stage.teamId } };
  },
  'transcript.read': async (stage) => ({ input: { ...writeTranscript(stage), after: 0, tail: true } }),
  'transcript.search': async (stage) => ({ input: { ...writeTranscript(stage), text: 'go' } }),
  'transcript.text': async (stage) => ({ input: { ...writeTranscript(stage), session: 's1', place: 0, path: 'text' } }),
  'gate.runs': async (stage) => ({ input: await judgedTask(stage) }),
  'gate.text': async (stage) => ({ input: { ...(await judgedTask(stage)), place: 0, path: 'stdout' } }),
  'member.list': async ({ teamId }) => ({ input: { teamId } }),
  'member.show': async ({ teamId }) => ({ input: { teamId, memberId: 'worker' } }),
  'member.update': async ({ teamId }) => ({ input: { teamId, memberId: 'worker', role: 'reviewer' } }),
  'member.idle': async ({ teamId }) => ({ input: { teamId, memberId: 'worker' }, as: 'worker' }),
  'member.remove': async ({ teamId }) => ({ input: { teamId, memberId: 'worker', reason: 'done' } }),
  'member.token': async ({ teamId }) => ({ input: { teamId, memberId: 'worker' } }),
  'usage.record': async ({ teamId }) => ({
    input: { teamId, memberId: 'worker', usage: { inputTokens: 1, outputTokens: 2 } },
    as: 'worker',
  }),
  'budget.show': async ({ teamId }) => ({ input: { teamId, memberId: 'worker' } }),
  'account.list': async ({ teamId }) => ({ input: { teamId } }),
  'account.report': async (stage) => {
    await stage.act('member.update', { teamId: stage.teamId, memberId: 'worker', account: 'claude' }, 'worker');
    return { input: { teamId: stage.teamId, memberId: 'worker', cause: 'overloaded', reason: 'busy' }, as: 'worker' };
  },
  'account.enter': async ({ teamId }) => ({ input: { teamId, memberId: 'worker' }, as: 'worker' }),
  'account.clear': async ({ teamId }) => ({ input: { teamId, account: 'claude' } }),
  'usage.show': async ({ teamId }) => ({ input: { teamId } }),
  ...INNER_OPERATIONS,
  ...TASK_OPERATIONS,
  ...WORK_OPERATIONS,
  'message.send': async ({ teamId }) => ({ input: { teamId, toId: 'worker', content: 'Hello' }, as: 'lead' }),
  'message.broadcast': async ({ teamId }) => ({ input: { teamId, content: 'Hello all' }, as: 'lead' }),
  'message.inbox': async (stage) => {
    await newMail(stage);
    return { input: { teamId: stage.teamId, unread: true, limit: 3 }, as: 'worker' };
  },
  'message.read': async (stage) => ({ input: await newMail(stage), as: 'worker' }),
  'message.deliver': async (stage) => ({ input: { ...(await newMail(stage)), sessionId: 's1' }, as: 'worker' }),
  'message.acknowledge': async (stage) => {
    const mail = await newMail(stage);
    await stage.act('message.deliver', { ...mail, sessionId: 's1' }, 'worker');
    return { input: mail, as: 'worker' };
  },
  'request.list': async ({ teamId }) => ({ input: { teamId, status: 'pending' } }),
  'request.raise': async (stage) => ({
    input: { ...(await heldTask(stage)), kind: 'permission', memberId: 'worker', content: 'May I?', within: 60_000 },
    as: 'worker',
  }),
  'request.answer': async (stage) => ({ input: { ...(await askedPerson(stage)), approve: true, feedback: 'Yes' } }),
  'question.ask': async ({ teamId }) => ({
    input: { teamId, content: 'Which one?', choices: ['this', 'that'], within: 60_000, wait: 1 },
    as: 'worker',
  }),
  'request.judge': async (stage) => ({ input: await askedAboutWork(stage) }),
  'note.add': async ({ teamId }) => ({ input: { teamId, text: 'The port is 8080', tags: ['net'] }, as: 'worker' }),
  'note.list': async (stage) => {
    await newNote(stage);
    return { input: { teamId: stage.teamId, tag: 'net', limit: 5 } };
  },
  'note.update': async (stage) => ({ input: { ...(await newNote(stage)), text: 'The port is 80' }, as: 'worker' }),
  'note.remove': async (stage) => ({ input: await newNote(stage), as: 'worker' }),
  'note.search': async (stage) => {
    await newNote(stage);
    return { input: { teamId: stage.teamId, query: 'port', limit: 3 } };
  },
  'hook.register': async ({ teamId }) => ({
    input: { teamId, type: 'TaskCompleted', command: 'make check', timeout: 5_000 },
  }),
  'hook.list': async (stage) => {
    await newHook(stage);
    return { input: { teamId: stage.teamId } };
  },
  'hook.remove': async (stage) => ({ input: await newHook(stage) }),
  'shutdown.request': async ({ teamId }) => ({ input: { teamId, memberId: 'worker', reason: 'done' }, as: 'lead' }),
  'shutdown.approve': async (stage) => ({ input: await askedShutdown(stage), as: 'worker' }),
  'shutdown.reject': async (stage) => ({ input: { ...(await askedShutdown(stage)), feedback: 'Busy' }, as: 'worker' }),
  'plan.submit': async ({ act, teamId }) => {
    await act('member.add', { teamId, name: 'planner', planApprovalRequired: true });
    return { input: { teamId, content: 'First this, then that' }, as: 'planner' };
  },
  'plan.approve': async (stage) => ({ input: await handedPlan(stage), as: 'lead' }),
  'plan.reject': async (stage) => ({ input: { ...(await handedPlan(stage)), feedback: 'Shorter' }, as: 'lead' }),
  'native.list': async (stage) => {
    leftTeam(stage);
    return { input: { known: 0 } };
  },
  'native.show': async (stage) => ({ input: { name: leftTeam(stage) } }),
  'native.events': async (stage) => {
    leftTeam(stage);
    return { input: { after: 0 } };
  },
  'native.leftovers': async (stage) => {
    leftTeam(stage);
    return { input: { quiet: 0 } };
  },
  'native.preview': async (stage) => ({ input: { name: leftTeam(stage), rename: `${stage.teamId}-both` } }),
  'native.join': async (stage) => ({ input: { name: leftTeam(stage), rename: `${stage.teamId}-both` } }),
  'native.leave': async (stage) => {
    await stage.act('native.join', { name: leftTeam(stage), rename: `${stage.teamId}-both` });
    return { input: { teamId: `${stage.teamId}-both` } };
  },
  'native.joined': async (stage) => {
    await stage.act('native.join', { name: leftTeam(stage), rename: `${stage.teamId}-both` });
    return { input: {} };
  },
  'native.players': async () => ({ input: { agents: { 'poet-*': 'codex' } } }),
  'native.sit': async (stage) => ({ input: { ...seatIn(stage), root: join(stage.home.directory, 'claude') } }),
  'native.hold': async (stage) => {
    const wish = { ...seatIn(stage), root: join(stage.home.directory, 'claude') };
    const seat = await stage.act('native.sit', wish);
    return { input: { ...seat, ticket: wish.ticket, wait: 0 } };
  },
  'native.clean': async (stage) => ({ input: { names: [leftTeam(stage)], quiet: 0 } }),
  'event.list': async ({ teamId }) => ({ input: { teamId, after: 1, limit: 1 } }),
  'event.snapshot': async ({ teamId }) => ({ input: { teamId } }),
  'team.import': async (stage) => ({ input: { file: await packedTeam(stage), rename: `${stage.teamId}-moved` } }),
  'record.read': async ({ teamId }) => ({ input: { teamId, name: 'event.list' as const, input: { limit: 1 } } }),
  'agent.list': async () => ({ input: {} }),
  'daemon.settings': async () => ({ input: {} }),
  'daemon.status': async () => ({ input: {} }),
  'daemon.stop': async () => ({ input: { keep: true } }),
  'ui.login': async () => ({ input: {} }),
  'token.rotate': async () => ({ input: {} }),
};

function writeTranscript({ home, teamId }: Stage): { teamId: string; memberId: string } {
  const folder = join(home.transcripts, teamId, 'worker');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 's1.jsonl'), '{"at":1,"type":"told","text":"Go"}\n');
  return { teamId, memberId: 'worker' };
}

/** A file with a team from another machine. */
async function packedTeam({ home, teamId, act }: Stage): Promise<string> {
  const found = await act('event.list', { teamId, limit: 10_000 });
  const batches = found.map(({ events }) => events as unknown as TeamEvent[]);
  const file = join(home.directory, `${teamId}.troupe`);
  const head = { team: teamId, troupe: '0.1.0', exportedAt: 1 };
  writeFileSync(file, writePackage({ head, batches, bundle: Buffer.alloc(0) }));
  return file;
}

/** A task about which a gate said something. */
async function judgedTask({ home, teamId, act }: Stage): Promise<{ teamId: string; taskId: string }> {
  const { id: taskId } = await act('task.create', { teamId, title: 'Judged' });
  const folder = join(home.transcripts, teamId, '@gates');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${taskId}.jsonl`), '{"at":1,"type":"gate","exitCode":2,"stdout":"1 failed"}\n');
  return { teamId, taskId };
}
