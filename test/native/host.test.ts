import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { terminalSocket } from '../../src/client/terminal-socket.ts';
import { SHORT_RUN } from '../agents/bun.ts';
import { proves } from '../bridge/requirements.ts';
import { connect } from '../daemon/serve.ts';
import type { ModelReply, ModelScript } from '../models/script.ts';
import { as, lastText, rules } from './script.ts';
import { setNativeStage } from './stage.ts';
import type { NativeStage } from './stage.ts';
import { TESTED_VERSIONS } from './versions.ts';

/** Matches the program's command line; the oldest version hides all but its name. */
const PROGRAM = /--agent-id|^claude$/;

/** A call that writes a text into a file, with a command that needs permission. */
const shell = (file: string, text: string) => ({
  name: 'Bash',
  input: { command: `node -e "require('fs').writeFileSync('${file}', '${text}')"`, description: 'write it' },
});

/** The scripts of the members, which react to the last prompt or tool result. */
function castOf(stage: NativeStage, file: string): Record<string, ModelScript> {
  const { words } = stage;
  const answerStop: ModelScript = (request) => {
    const id = /shutdown-\d+@[a-z]+/.exec(lastText(request))?.[0] ?? '';
    const isEarly = lastText(request).includes('too early');
    return { calls: [words.answerShutdown(id, !isEarly, 'I still test')] };
  };
  let plans = 0;
  const writePlan = (path: string): ModelReply => ({
    calls: [{ name: 'Write', input: { file_path: path, content: `# Plan ${++plans}\nWrite the file.` } }],
  });
  let path = '';
  /** Remaining attempts to write the file: while the program leaves plan mode it may refuse a command. */
  let tries = 0;
  return {
    alice: (request) => {
      const last = lastText(request);
      const all = JSON.stringify(request.body);
      path = /[^"\\\s`]+\/plans\/[a-z0-9-]+\.md/.exec(all)?.[0] ?? path;
      if (last.includes('shutdown_request')) return answerStop(request);
      const isApproved = /Plan Approved|Task #1: Build the thing(?![^]*Change nothing yet)/.test(last);
      if (isApproved) tries = 3;
      if (!existsSync(file) && tries-- > 0) return { calls: [shell(file, 'done as planned')] };
      if (/No plan file found/.test(last) || /with tests/.test(last)) return writePlan(path);
      if (/Change nothing yet/.test(last)) return { calls: [{ name: 'ExitPlanMode', input: {} }] };
      if (/(created|updated) successfully|has been (created|updated)/.test(last)) {
        return { calls: [{ name: 'ExitPlanMode', input: {} }] };
      }
      if (/submitted to the team lead/.test(last)) return { text: 'I wait for my lead.' };
      return { text: existsSync(file) ? 'The thing is built.' : 'Well.' };
    },
    bob: (request) => {
      const last = lastText(request);
      if (last.includes('shutdown_request')) return answerStop(request);
      const found = rules(
        [
          /Check the thing/,
          { calls: [words.send('carol', 'bob greets carol'), words.send('alice', 'bob greets alice')] },
        ],
        [/Also tell/, { calls: [words.send('team-lead', 'a word to my lead'), words.createTask('Found by bob')] }],
      )(request);
      return Promise.resolve(found).then(({ calls }) => (calls ? { calls } : { text: 'It was checked.' }));
    },
  };
}

describe.for(TESTED_VERSIONS)('a Troupe team with native teammates of Claude Code %s', (version) => {
  proves(
    [
      'teammate-flags',
      'teammate-record',
      'teammate-plan',
      'teammate-permission',
      'teammate-shutdown',
      'teammate-mail-between-turns',
    ],
    'handles their plans, permissions, messages, tasks and shutdowns itself, and leaves nothing behind',
    async (context) => {
      const stage = await setNativeStage(context, version);
      const file = join(stage.cwd, 'thing.txt');
      stage.play(castOf(stage, file));
      const native = (name: string, more: object = {}) => ({
        name,
        agent: 'claude-native',
        command: [stage.program],
        env: SHORT_RUN,
        cwd: stage.cwd,
        model: 'claude-sonnet-4-5-20250929',
        prompt: `${as(name)}Do as you are told.`,
        ...more,
      });
      const carol = join(stage.cwd, 'carol.sh');
      writeFileSync(carol, '#!/bin/sh\ncat >> carol.log\necho seen\n', { mode: 0o755 });
      const team = {
        team: 'mixed',
        members: [
          native('alice', { plan: 'required' }),
          native('bob'),
          { name: 'carol', agent: { exec: [carol] }, cwd: stage.cwd },
        ],
        tasks: [
          { id: 'build', title: 'Build the thing', assign: 'alice' },
          { id: 'check', title: 'Check the thing', assign: 'bob', needs: ['build'] },
        ],
      };
      writeFileSync(join(stage.cwd, 'troupe.yaml'), JSON.stringify(team));
      const up = await stage.troupe('up', '--yes', 'troupe.yaml', '--detach');
      expect(up.code, up.stderr).toBe(0);
      const client = connect(stage.troupeHome);
      const teamId = 'mixed';

      // The first plan is rejected and the second approved, both as requests of Troupe.
      const first = await pending(stage, client, 'plan');
      expect(first).toMatchObject({ memberId: 'alice', content: expect.stringContaining('# Plan 1') as string });
      await client.call('plan.reject', { teamId, requestId: first.id, feedback: 'once more, with tests' });
      const second = await pending(stage, client, 'plan');
      expect(second.content).toContain('# Plan 2');
      expect(existsSync(file)).toBe(false);
      await client.call('plan.approve', { teamId, requestId: second.id });
      const asked = await pending(stage, client, 'permission');
      expect(asked).toMatchObject({ memberId: 'alice', content: expect.stringContaining('Bash') as string });
      await client.call('request.answer', { teamId, requestId: asked.id, approve: true });
      const done = (taskId: string) => async () => {
        const task = await client.call('task.show', { teamId, taskId });
        return task.status === 'completed' ? task : undefined;
      };
      expect(await stage.until('alice built it', done('1'))).toMatchObject({ result: 'The thing is built.' });

      // Messages from native teammates, also between themselves, are messages of Troupe.
      expect(await stage.until('bob checked it', done('2'))).toMatchObject({ result: 'It was checked.' });
      const mail = async (memberId: string) => client.call('message.inbox', { teamId, memberId });
      await stage.until('carol was greeted', async () =>
        (await mail('carol')).some(({ content }) => content === 'bob greets carol'),
      );
      await stage.until('alice heard bob', () => stage.heard('alice', 'bob greets alice'));
      await stage.until('that is on record', async () =>
        (await mail('alice')).some(
          ({ content, fromId, readAt }) => content === 'bob greets alice' && fromId === 'bob' && readAt,
        ),
      );
      expect(stage.asked('alice').filter((request) => lastText(request).includes('bob greets alice'))).not.toHaveLength(
        0,
      );
      const usage = await client.call('usage.show', { teamId });
      expect(usage.members['alice']?.inputTokens).toBeGreaterThan(0);

      // Its native task tools work on the team's task list.
      await client.call('message.send', {
        teamId,
        toId: 'bob',
        content: 'Also tell your lead, and note what you found.',
      });
      await stage.until('what it wrote to a lead that is not there is on record', async () => {
        const { leadId } = await client.call('team.show', { teamId });
        return (await mail(leadId)).some(({ content }) => content.includes('From bob, to the lead that this team'));
      });
      await stage.until('it hears that', () => stage.heard('bob', 'This team has no lead'));
      await stage.until('its task is one of ours', async () =>
        (await client.call('task.list', { teamId })).some(({ title }) => title === 'Found by bob'),
      );

      // It may refuse to stop. The second time it agrees.
      await client.call('shutdown.request', { teamId, memberId: 'bob', reason: 'too early' });
      const refused = await stage.until('bob refused', async () =>
        (await client.call('request.list', { teamId, kind: 'shutdown' })).find(({ status }) => status === 'rejected'),
      );
      expect(refused).toMatchObject({ memberId: 'bob', feedback: 'I still test' });
      await client.call('shutdown.request', { teamId, memberId: 'bob', reason: 'all is done' });
      await stage.until(
        'bob has stopped',
        async () => (await client.call('member.show', { teamId, memberId: 'bob' })).status === 'stopped',
      );
      expect(stage.team()?.config?.members.map(({ name }) => name)).not.toContain('bob');

      const down = await stage.troupe('down', '--team', teamId);
      expect(down.code, down.stderr).toBe(0);
      await stage.until('the program is gone', () => !stage.processes().some(({ command }) => PROGRAM.test(command)));
      await stage.until(
        'its files are in the trash',
        () => readdirSync(join(stage.troupeHome.directory, 'trash')).length === 1,
      );
      expect(stage.team()).toBeUndefined();
    },
  );
});

describe.for(TESTED_VERSIONS)('a team that Claude Code %s leads in a terminal', (version) => {
  proves(
    ['teammate-flags', 'teammate-record', 'teammate-mail-between-turns'],
    'has a lead with the tools of the team, which gets digests and the mail of native teammates, and leaves nothing behind',
    async (context) => {
      const stage = await setNativeStage(context, version);
      const { words } = stage;
      const file = join(stage.cwd, 'thing.txt');
      stage.play({
        // It first tries to do the work itself, which is refused: it only coordinates.
        boss: rules(
          [/Get it written/, { calls: [shell(file, 'by itself')] }],
          [/"subject":"Write it"/, { text: 'I wait for it.' }],
          [/Tasks: 1 completed/, { text: 'The answer: it is written.' }],
          [/<teammate-message/, { text: 'I heard it.' }],
          [
            /./,
            { calls: [{ name: 'mcp__troupe__TaskCreate', input: { subject: 'Write it', description: 'A page' } }] },
          ],
        ),
        bob: rules(
          [/Write it/, { calls: [words.send('team-lead', 'a word to my lead')] }],
          [/./, { text: 'Written.' }],
        ),
      });
      const native = { agent: 'claude-native', command: [stage.program], cwd: stage.cwd, env: SHORT_RUN };
      const model = 'claude-sonnet-4-5-20250929';
      const team = {
        team: 'led',
        lead: { name: 'boss', delegate: true, ...native, model, prompt: `${as('boss')}Get it written.` },
        members: [{ name: 'bob', ...native, model, prompt: `${as('bob')}Do as you are told.` }],
      };
      writeFileSync(join(stage.cwd, 'troupe.yaml'), JSON.stringify(team));
      const up = await stage.troupe('up', '--yes', 'troupe.yaml', '--json');
      expect(up.code, up.stderr).toBe(0);
      expect(JSON.parse(up.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
        answer: 'The answer: it is written.',
        tasks: [{ title: 'Write it', status: 'completed', result: 'Written.', createdBy: 'boss' }],
      });
      expect(existsSync(file)).toBe(false);
      expect(stage.heard('boss', /teammate_id="bob"[^]*a word to my lead/)).toBe(true);
      // It has one set of team tools, and no second one that works on files that nobody else reads.
      const offered = new Set(stage.asked('boss').flatMap(({ tools }) => tools));
      expect([...offered].filter((name) => /^(Task(Create|Get|List|Update)|SendMessage|Team\w+)$/.test(name))).toEqual(
        [],
      );
      expect(offered).toContain('mcp__troupe__SendMessage');
      await stage.until('the programs are gone', () => !stage.processes().some(({ command }) => PROGRAM.test(command)));
      await stage.until('no native team is left', () => readdirSync(join(stage.root, 'teams')).length === 0);
      expect(readdirSync(stage.troupeHome.directory).filter((name) => name.startsWith('start-'))).toEqual([]);
    },
  );
});

describe.for(TESTED_VERSIONS)('a teammate of Claude Code %s that is killed', (version) => {
  proves(
    ['teammate-session', 'teammate-record'],
    'resumes its conversation and its task, and leaves nothing of the old process behind',
    async (context) => {
      const stage = await setNativeStage(context, version);
      const go = join(stage.cwd, 'go');
      const wait = `until [ -e ${go} ]; do sleep 0.1; done`;
      stage.play({
        alice: (request) =>
          /Wait for it/.test(lastText(request))
            ? { text: 'I wait.', calls: [{ name: 'Bash', input: { command: wait, description: 'wait' } }] }
            : { text: 'It came.' },
      });
      const member = { name: 'alice', agent: 'claude-native', command: [stage.program], cwd: stage.cwd, mode: 'full' };
      const more = { model: 'claude-sonnet-4-5-20250929', prompt: as('alice'), env: SHORT_RUN };
      const team = { team: 'mixed', members: [{ ...member, ...more }], tasks: [{ title: 'Wait for it' }] };
      writeFileSync(join(stage.cwd, 'troupe.yaml'), JSON.stringify(team));
      expect((await stage.troupe('up', '--yes', 'troupe.yaml', '--detach')).code).toBe(0);
      const client = connect(stage.troupeHome);
      const about = { teamId: 'mixed', taskId: '1' };
      const programs = (): number[] =>
        stage.processes().flatMap(({ pid, command }) => (PROGRAM.test(command) ? [pid] : []));
      const works = (times: number) =>
        stage.until(`it works for the ${times}. time`, async () => {
          const task = await client.call('task.show', about);
          return task.status === 'in_progress' && waiting() >= times && task.epoch;
        });
      const waiting = (): number => stage.asked('alice').filter((one) => /Wait for it/.test(lastText(one))).length;

      const epoch = await works(1);
      const { sessionId } = await client.call('member.show', { teamId: 'mixed', memberId: 'alice' });
      const isShown = async () => (await stage.troupe('peek', 'alice')).stdout.includes('I wait.');
      await stage.until('it is on record', isShown);
      const [first] = programs();
      if (first === undefined) throw new Error('The program does not run');
      process.kill(first, 'SIGKILL');
      expect(await works(2)).toBeGreaterThan(epoch);
      expect(programs()).not.toContain(first);
      // Now kill its terminal, and with it the program.
      const socket = terminalSocket(stage.troupeHome, 'mixed', 'alice');
      const holder = execFileSync('tmux', ['-S', socket, 'display-message', '-p', '#{pid}'], { encoding: 'utf8' });
      process.kill(Number(holder), 'SIGKILL');
      await works(3);
      expect(programs()).toHaveLength(1);
      expect((await client.call('member.show', { teamId: 'mixed', memberId: 'alice' })).sessionId).toBe(sessionId);

      // Now kill only the daemon: the program works on, and the next daemon has the result of the turn.
      const { pid } = await client.call('daemon.status', {});
      const [last] = programs();
      process.kill(pid, 'SIGKILL');
      writeFileSync(go, '');
      await stage.until('it went on by itself', () => stage.heard('alice', /Wait for it/) && existsSync(go));
      await stage.until(
        'a daemon is there again',
        async () =>
          (await stage.troupe('status', '--json')).code === 0 ||
          (await stage.troupe('up', '--yes', 'troupe.yaml', '--detach')).code === 0,
      );
      await stage.until('the task is done', async () => (await client.call('task.show', about)).status === 'completed');
      expect((await client.call('task.show', about)).result).toBe('It came.');
      expect(programs()).toEqual([last]);
      expect((await stage.troupe('down', '--team', 'mixed')).code).toBe(0);
      await stage.until('nothing is left', () => programs().length === 0 && stage.team() === undefined);
    },
  );
});

async function pending(stage: NativeStage, client: Client, kind: 'plan' | 'permission') {
  return stage.until(`a ${kind} waits`, async () =>
    (await client.call('request.list', { teamId: 'mixed', kind, status: 'pending' })).at(0),
  );
}
