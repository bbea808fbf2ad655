import { chmodSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openUnix } from '../server/wire.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { answerInPool } from './answer-pool.ts';
import { newTroupe, sharedTroupe, wordsOf } from './troupe.ts';

/** Command lines whose exact words are promised. */
describe('the promised commands', () => {
  const troupe = sharedTroupe();

  beforeAll(async () => {
    await troupe.ask('team create demo --description "Port the parser"');
    await troupe.ask('member add worker-1 --team demo --role tester');
    await troupe.ask('member add worker-2 --team demo');
  });

  test('team create, list, show, delete', async () => {
    expect(await troupe.ask('team create other --description "..."')).toEqual({
      status: 0,
      stdout: 'Team other created; its lead is lead.\n',
      stderr: '',
    });
    expect((await troupe.ask('team list')).stdout).toMatch(/^TEAM.*STATUS.*\n.*demo +active +3 +0\/\d/s);
    expect((await troupe.ask('team show other')).stdout).toContain('Team other\n  status     active');
    expect(await troupe.askJson('team list')).toHaveLength(2);
    expect(await troupe.askJson('team show other')).toMatchObject({ id: 'other', description: '...', leadId: 'lead' });
    expect(await troupe.ask('team delete other')).toEqual({
      status: 2,
      stdout: '',
      stderr:
        'troupe: This would delete team other, with 1 member, 0 tasks and all records, permanently: say so with --yes\n',
    });
    expect(await troupe.askJson('team delete other --yes')).toEqual({ teamId: 'other', deleted: true });
    expect(await troupe.ask('team delete other')).toMatchObject({ status: 3, stdout: '' });
    expect(await troupe.askJson('team create json-made')).toMatchObject({ name: 'json-made', status: 'active' });
    expect(await troupe.ask('team delete json-made --yes')).toEqual({
      status: 0,
      stdout: 'Team json-made is deleted.\n',
      stderr: '',
    });
  });

  test('task add, list, show, claim, complete', async () => {
    expect(await troupe.ask('task add "First" --team demo')).toMatchObject({
      status: 0,
      stdout: 'Task #1 added: First\n',
    });
    expect(await troupe.askJson('task add "Second" --team demo')).toMatchObject({ id: '2', title: 'Second' });
    const added = await troupe.askJson(
      'task add "Title" --team demo --description d --needs 1,2 --priority high --assign worker-1',
    );
    expect(added).toMatchObject({
      id: '3',
      description: 'd',
      dependencies: ['1', '2'],
      priority: 'high',
      assigneeId: 'worker-1',
      status: 'blocked',
    });

    for (const id of ['3', '#3', 'T-3']) {
      expect(await troupe.askJson(['task', 'show', id, '--team', 'demo'])).toEqual(added);
    }
    const named = await troupe.askJson(['task', 'add', 'Named', '--team', 'demo', '--needs', '#1,#2']);
    expect(named).toMatchObject({ id: '4', dependencies: ['1', '2'] });
    await troupe.ask('task delete 4 --team demo');

    const pending = await troupe.askJson<{ id: string }[]>('task list --team demo --status pending');
    expect(pending.map(({ id }) => id)).toEqual(['1', '2']);
    const { stdout: list } = await troupe.ask('task list --team demo');
    expect(list).toMatch(/^ #  STATUS     PRIO  TASK    WHO       NEEDS  CHANGED\n#1  ○ pending        First +\d{4}-/);
    expect(list).toMatch(/\n#3  · blocked  high  Title   worker-1  #1 #2  \d{4}-/);

    expect(await troupe.askJson('task show 1 --team demo')).toMatchObject({ id: '1', title: 'First' });
    expect((await troupe.ask('task show 3 --team demo')).stdout).toMatch(/^Task #3: Title\n {2}status +· blocked\n/);

    const claimed = await troupe.ask('task claim --team demo --as worker-1');
    expect(claimed.stdout).toMatch(/^worker-1 holds task #1: First\n {2}status +◐ in progress\n/);
    expect(await troupe.askJson('task claim 2 --team demo --as worker-1')).toMatchObject({
      id: '2',
      assigneeId: 'worker-1',
    });

    const completed = await troupe.askJson('task complete 1 --team demo --as worker-1 --result "..."');
    expect(completed).toMatchObject({ id: '1', status: 'completed', result: '...' });
    expect((await troupe.ask('task complete 2 --team demo --as worker-1 --result "all good"')).stdout).toBe(
      'Task #2 is completed: Second\n',
    );
  });

  test('task claim says when there is nothing to claim', async () => {
    await troupe.ask('team create empty');
    expect(await troupe.ask('task claim --team empty --as lead')).toEqual({
      status: 0,
      stdout: 'There is nothing to claim now: team empty has no tasks; troupe task add "..." --team empty\n',
      stderr: '',
    });
    for (const words of ['add A', 'add B --needs 1', 'add C --needs 1', 'add D --assign lead', 'claim 1 --as lead']) {
      await troupe.ask(`task ${words} --team empty`);
    }
    await troupe.ask('member add helper --team empty');
    expect((await troupe.ask('task claim --team empty --as helper')).stdout).toBe(
      'There is nothing to claim now: 1 reserved for others, 2 blocked, 1 in progress; troupe task list --team empty\n',
    );
    expect((await troupe.ask('task claim 2 --team empty --as helper --wait 10ms')).stdout).toBe(
      'Task #2 waits for task 1 (in progress, held by lead)\n',
    );
    for (const id of [1, 2, 3, 4]) await troupe.ask(`task delete ${id} --team empty`);
    expect(await troupe.ask('task claim --team empty --as lead --json')).toEqual({
      status: 0,
      stdout: 'null\n',
      stderr: '',
    });
    await troupe.ask('team delete empty --yes');
  });

  test('member add', async () => {
    expect(await troupe.ask('member add worker-3 --team demo --role tester')).toEqual({
      status: 0,
      stdout: 'worker-3 joined as tester.\n',
      stderr: '',
    });
    expect(await troupe.askJson('member add worker-4 --team demo --role tester')).toMatchObject({ name: 'worker-4' });
    expect((await troupe.ask('member list --team demo')).stdout).toMatch(/\nworker-3 +tester +active/);
  });

  test('send and inbox', async () => {
    expect(await troupe.ask('send worker-1 "text" --team demo --as lead')).toMatchObject({
      status: 0,
      stdout: 'Sent to worker-1.\n',
    });
    expect(await troupe.askJson('send worker-1 "now!" --team demo --as lead --urgent')).toMatchObject({
      fromId: 'lead',
      toId: 'worker-1',
      content: 'now!',
      priority: 'urgent',
    });
    const sent = await troupe.askJson<{ toId: string }[]>('send --all "to everybody" --team demo --as lead');
    expect(sent.map(({ toId }) => toId)).toEqual(expect.arrayContaining(['worker-1', 'worker-2']));
    expect((await troupe.ask('send --all "again" --team demo --as worker-1')).stdout).toMatch(
      /^Sent to \d members: lead/,
    );

    const mail = await troupe.askJson<{ content: string }[]>('inbox --team demo --as worker-1 --unread');
    expect(mail.map(({ content }) => content)).toEqual(['text', 'now!', 'to everybody']);
    const { stdout } = await troupe.ask('inbox --team demo --as worker-1 --unread');
    expect(stdout).toMatch(/^● lead {2}\d{4}-\S+ {2}\S+\n {2}text\n\n● lead {2}\S+ {2}urgent {2}/);
  });

  test('status and doctor', async () => {
    const status = await troupe.askJson('status');
    expect(status).toMatchObject({ socket: `${troupe.home}/daemon.sock`, tokenFile: `${troupe.home}/token` });
    expect(status).toMatchObject({ pid: expect.any(Number) as number, url: expect.stringContaining('http') as string });
    const { stdout } = await troupe.ask('status');
    expect(stdout).toMatch(/^Troupe \d+\.\d+\.\d+, running for /);
    expect(stdout).toMatch(/\nTEAM .*\ndemo /s);
    expect(await troupe.ask('doctor')).toMatchObject({ status: 0, stderr: '' });
  });
});

describe('a command line', () => {
  const troupe = sharedTroupe();

  test('a team is shown in the terminal of the command that creates it, not in that of the daemon', async () => {
    const inside = { env: { TMUX: '/tmp/tmux-0/default,1,0' } };
    const created = await troupe.json('team create in-panes --teammate-mode tmux', inside);
    expect(created).toMatchObject({ teammateMode: 'tmux', resolvedBackend: 'tmux' });
    expect(await troupe.json('team create outside --teammate-mode tmux')).toMatchObject({
      resolvedBackend: 'in-process',
    });
  });

  beforeAll(async () => {
    await troupe.ask('team create demo');
    await troupe.ask('member add worker-1 --team demo');
  });

  test('takes the team and the member from the environment', async () => {
    const env = { TROUPE_TEAM: 'demo', TROUPE_MEMBER_NAME: 'worker-1' };
    expect(await troupe.askJson('send lead "hello"', { env })).toMatchObject({ teamId: 'demo', fromId: 'worker-1' });
    const both = { ...env, TROUPE_TEAM: 'nowhere', TROUPE_TEAM_ID: 'demo' };
    expect(await troupe.ask('task list', { env: both })).toMatchObject({ status: 0 });
    expect(await troupe.ask('task list --team nowhere', { env })).toMatchObject({ status: 3 });
    expect((await troupe.ask('team show', { env })).stdout).toContain('Team demo');
  });

  test('uses the only open team if none is named, and does not guess between several', async () => {
    const alone = newTroupe();
    const none = await alone.ask('inbox');
    const said = 'troupe: There is no team yet: troupe up starts one\n';
    expect(none).toMatchObject({ status: 3, stderr: expect.stringContaining(said) });
    // A command, although there are others that begin with the same word.
    expect((await alone.ask('work')).stderr).toBe(said);
    expect((await alone.ask('status')).stdout).toContain('There is no team yet: troupe up starts one');
    await alone.ask('team create over');
    await alone.ask('team close over');
    expect(await alone.ask('inbox')).toMatchObject({ status: 2, stderr: expect.stringContaining('No team is open: ') });
    await alone.ask('team create demo');
    expect(await alone.askJson('task add First')).toMatchObject({ teamId: 'demo' });
    expect(await alone.askJson('send lead "hello"')).toMatchObject({ teamId: 'demo' });
    expect(await alone.askJson('inbox --of lead')).toMatchObject([{ content: 'hello' }]);
    expect(await alone.askJson('inbox lead')).toMatchObject([{ content: 'hello' }]);
    expect(await alone.askJson('notes add "Ports are random"')).toMatchObject({ text: 'Ports are random' });
    expect((await alone.ask('team show')).stdout).toContain('Team demo');
    expect(await alone.ask('team close')).toMatchObject({ status: 2 });
    await alone.ask('team create other');
    const { status, stderr } = await alone.ask('inbox');
    expect(status).toBe(2);
    expect(stderr).toContain('Say which team; demo, other are open. Such as: troupe inbox --team demo\n');
  });

  test('uses the team of the folder, or the one that an address names; --team wins, and two are named', async () => {
    const alone = newTroupe();
    const root = realpathSync(temporaryFolder());
    const [inner = '', outer = '', both = ''] = ['a/below', 'b', 'c'].map((name) => join(root, name));
    for (const folder of [inner, outer, both]) mkdirSync(folder, { recursive: true });
    const raised = { alpha: dirname(inner), beta: outer, one: both, two: both };
    for (const [name, folder] of Object.entries(raised)) {
      const peer = name === 'alpha' ? 'beta' : 'alpha';
      await alone.askJson(['team', 'create', name, '--metadata', JSON.stringify({ folder }), '--peers', peer]);
    }
    await alone.ask('member add ada --team alpha');
    await alone.ask('member add bea --team beta');
    const ask = (cwd: string, line: string) => answerInPool(wordsOf(line), { env: alone.environment, cwd });
    expect((await ask(inner, 'task add "In alpha" --json')).stdout).toContain('"teamId":"alpha"');
    expect((await ask(outer, 'task add "In beta" --json')).stdout).toContain('"teamId":"beta"');
    expect((await ask(inner, 'task list --team beta')).stdout).toContain('In beta');
    expect(await ask(both, 'task list')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('; in this folder there is one, two. Such as: troupe task list --team one\n'),
    });
    expect((await ask(both, 'down')).stderr).toContain(
      '; in this folder there is one, two. Such as: troupe down one\n',
    );
    expect((await ask(root, 'task list')).stderr).toContain('; alpha, beta, one, two are open. ');
    // The example of docs/team-files.md, from anywhere: ada is in one team only.
    expect((await ask(root, 'send lead@beta "Is the parser ready?" --as ada')).stdout).toBe('Sent to lead@beta.\n');
    expect((await ask(root, 'send bea@beta Hello --json')).stdout).toContain('"teamId":"beta"');
    // A closed team is looked at, but nothing is added to it.
    await alone.askJson('team close beta --force');
    expect((await ask(outer, 'task list')).stdout).toContain('In beta');
    expect((await ask(outer, 'export --journal --json')).stdout).toContain('"team":"beta"');
    expect((await ask(outer, 'task add "And more"')).stderr).toContain(
      "; alpha, one, two are open. Such as: troupe task add --team alpha 'And more'\n",
    );
  });

  test('registers a hook to run in the folder where it was named, and refuses one that cannot be run', async () => {
    const folder = temporaryFolder();
    const gate = join(folder, 'gate.sh');
    const register = (...words: readonly string[]) =>
      troupe.ask(['hook', 'register', 'TaskCreated', './gate.sh', '--team', 'demo', ...words]);
    const refused = await register('--cwd', folder);
    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr.replace(/\s+/g, ' ')).toContain(
      `Not registered: the TaskCreated hook "./gate.sh" cannot be run: ./gate.sh does not exist: put it into ${folder} `,
    );
    expect((await register()).stderr).toContain(process.cwd());
    writeFileSync(gate, '#!/bin/sh\nexit 0\n');
    expect((await register('--cwd', folder)).stderr).toContain(`is not executable: chmod +x ${gate}`);
    expect(await troupe.askJson('hook list --team demo')).toEqual([]);
    chmodSync(gate, 0o755);
    expect(await register('--cwd', folder)).toMatchObject({ status: 0 });
    expect(await troupe.askJson('hook list --team demo')).toMatchObject([{ command: './gate.sh', cwd: folder }]);
    await troupe.ask('hook remove TaskCreated --team demo');
    await troupe.ask('hook register TaskCreated true --team demo');
    expect(await troupe.askJson('hook list --team demo')).toMatchObject([{ command: 'true', cwd: process.cwd() }]);
    await troupe.ask('hook remove TaskCreated --team demo');
  });

  test('requires a member for a claim, and says how to name one', async () => {
    await troupe.ask('task add Free --team demo');
    const outcome = await troupe.ask('task claim --team demo');
    expect(outcome).toMatchObject({ status: 2, stdout: '' });
    expect(outcome.stderr).toContain('(lead, worker-1) can do that, and you are calling as @user: pass --as MEMBER');
    expect(await troupe.ask('task update 1 --status in_progress --team demo')).toMatchObject({ status: 2 });
  });

  test('says that a long list goes on, and returns all of it as JSON', async () => {
    await troupe.ask('team create long');
    const wire = await openUnix(`${troupe.home}/daemon.sock`, readFileSync(`${troupe.home}/token`, 'utf8').trim());
    const add = (): Promise<unknown> => wire.ask({ type: 'task.create', payload: { teamId: 'long', title: 'One' } });
    for (let i = 0; i < 1_010; i += 101) await Promise.all(Array.from({ length: 101 }, add));
    const { stdout } = await troupe.ask('task list --team long');
    expect(stdout).toMatch(/\nThere is more: --after 1000\n$/);
    expect((await troupe.ask('task list --team long --after 1000')).stdout).not.toContain('more');
    expect((await troupe.ask('task list --team long --limit 1010')).stdout).not.toContain('more');
    expect(await troupe.askJson<object[]>('task list --team long')).toHaveLength(1_010);
    expect(await troupe.askJson<object[]>('event list --team long')).toHaveLength(
      (await troupe.askJson<object[]>('event list --team long --limit 5000')).length,
    );
    expect(await troupe.askJson<object[]>('task list --team long --limit 3')).toHaveLength(3);
  });

  test('shows as much of a list as requested, even if the daemon returns smaller pages', async () => {
    await troupe.ask('team create wide');
    const wire = await openUnix(`${troupe.home}/daemon.sock`, readFileSync(`${troupe.home}/token`, 'utf8').trim());
    const long = { teamId: 'wide', title: 'One', description: 'x'.repeat(60_000) };
    await Promise.all(Array.from({ length: 30 }, () => wire.ask({ type: 'task.create', payload: long })));
    const { stdout } = await troupe.ask('task list --team wide');
    expect(stdout.match(/ One /g)).toHaveLength(30);
    expect(stdout).not.toContain('more');
    expect((await troupe.ask('task list --team wide --limit 25')).stdout).toMatch(/\nThere is more: --after 25\n$/);
    expect(await troupe.askJson<object[]>('task list --team wide')).toHaveLength(30);
    expect(await troupe.askJson<object[]>('task list --team wide --limit 25')).toHaveLength(25);
  });

  test('requires the name of a team to delete', async () => {
    const outcome = await troupe.ask('team delete', { env: { TROUPE_TEAM: 'demo' } });
    expect(outcome).toMatchObject({ status: 2, stdout: '' });
    expect(outcome.stderr).toContain('Say which team; ');
    expect(outcome.stderr).toContain('Such as: troupe team delete demo');
  });

  test('acts as the member of its token, and as nobody else', async () => {
    const { stdout } = await troupe.ask('member token worker-1 --team demo');
    const token = stdout.trim();
    expect(stdout).toBe(`${token}\n`);
    const env = { TROUPE_TOKEN: token, TROUPE_MEMBER_NAME: 'somebody-else' };
    expect(await troupe.askJson('send lead "mine" --team demo', { env })).toMatchObject({ fromId: 'worker-1' });
    expect(await troupe.ask('send lead "not mine" --team demo --as lead', { env })).toMatchObject({ status: 5 });
    expect(await troupe.ask('status', { env })).toMatchObject({ status: 5 });
  });

  test('reads texts from standard input', async () => {
    const task = await troupe.json('task add Title --team demo --description -', { input: 'first\nsecond\n' });
    expect(task).toMatchObject({ description: 'first\nsecond' });
    const { status, stderr } = await troupe.run('task add - --team demo --description -', { input: 'x' });
    expect({ status, stderr }).toMatchObject({ status: 2, stderr: expect.stringContaining('Only one text') as string });
  });

  test('accepts a text that starts with a dash', async () => {
    const task = await troupe.askJson(['task', 'add', '- a list', '--team', 'demo', '--description', '-5 degrees']);
    expect(task).toMatchObject({ title: '- a list', description: '-5 degrees' });
    const words = ['send', 'lead', '--team', 'demo', '--as', 'worker-1', '--json', '--', '--all'];
    expect((await troupe.ask(words)).stdout).toContain('"content":"--all"');
  });

  test('finds an operation under its own name too', async () => {
    expect(await troupe.askJson('task create Other --team demo')).toMatchObject({ title: 'Other' });
    expect(await troupe.askJson('message inbox --team demo --as lead')).toEqual(expect.any(Array));
    expect(await troupe.askJson('daemon status')).toMatchObject({ home: troupe.home });
    expect(await troupe.askJson('--json task show 1 --team demo')).toMatchObject({ id: '1' });
  });

  test('waits as long as --wait says', async () => {
    const waiting = troupe.askJson('task claim --team demo --as worker-1 --wait 10s', {
      env: { TROUPE_TEAM_ID: 'waiting' },
    });
    await expect(waiting).resolves.toMatchObject({ teamId: 'demo' });
    await troupe.ask('team create quiet');
    const started = performance.now();
    expect(await troupe.ask('inbox --team quiet --as lead --wait 300ms --json')).toMatchObject({ stdout: '[]\n' });
    expect(performance.now() - started).toBeGreaterThan(300);
  });

  test('shows the budget of a team if no member is named', async () => {
    await troupe.ask(['team', 'create', 'thrifty', '--budget', '{"turns":5}']);
    const [turns, ...others] = await troupe.askJson<object[]>('budget show --team thrifty');
    expect(turns).toEqual({ of: 'team', what: 'turns', used: 0, limit: 5, share: 0 });
    expect(others).toEqual([]);
  });

  test('revokes credentials', async () => {
    const token = (await troupe.ask('member token worker-1 --team demo')).stdout.trim();
    expect(await troupe.askJson('token rotate')).toEqual({ rotated: true });
    expect(await troupe.ask('task list --team demo', { env: { TROUPE_TOKEN: token } })).toMatchObject({ status: 5 });
    expect(await troupe.ask('task list --team demo')).toMatchObject({ status: 0 });
  });
});
