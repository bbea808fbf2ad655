import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newTroupe, sharedTroupe } from './troupe.ts';

/** A folder with team files, for commands that name another file. */
const TEAM_FILES = mkdtempSync(join(tmpdir(), 'troupe-files-'));
writeFileSync(join(TEAM_FILES, 'troupe.yaml'), 'team: demo\n');
writeFileSync(
  join(TEAM_FILES, 'review.yaml'),
  'team: review\nmembers:\n  - { name: a, agent: { exec: ./gone.sh } }\n  - { name: b, agent: { exec: ./gone.sh } }\n',
);
afterAll(() => rmSync(TEAM_FILES, { recursive: true }));

describe('a refusal', () => {
  const troupe = sharedTroupe();

  beforeAll(async () => {
    await troupe.ask('team create demo');
    await troupe.ask('member add worker-1 --team demo');
    await troupe.ask('member add worker-2 --team demo');
    await troupe.ask('task add First --team demo');
    await troupe.ask('task add Second --team demo --needs 1');
    await troupe.ask('task claim 1 --team demo --as worker-1');
    await troupe.ask('task add Third --team demo');
    await troupe.ask('task claim 3 --team demo --as worker-1');
    await troupe.ask('task complete 3 --team demo --as worker-1');
    await troupe.ask('task add Fourth --team demo');
    await troupe.ask('team create lively');
    await troupe.ask('member add worker-1 --team lively');
  });

  test.each([
    ['dance', 2, 'invalid', 'There is no command "dance"'],
    ['start', 2, 'invalid', 'There is no command "start": troupe up starts the team of a team file'],
    ['kill ada', 2, 'invalid', 'troupe member stop NAME stops a member'],
    ['stop all', 2, 'invalid', 'to kill everything: troupe stop --all'],
    ['up again', 3, 'not_found', 'To start a closed team over: troupe up --again'],
    ['inbox --team demo --of lead --wait 3', 2, 'invalid', '--wait needs a unit: 3s, 3m or 3h'],
    ['inbox --team demo --of lead --wait 9d', 2, 'invalid', '--wait: must be from 0s to 5m'],
    ['inbox --team demo --of lead --since 5', 2, 'invalid', '--since needs a unit: 5s, 5m or 5h'],
    ['task claim --team demo --as lead --lease 0s', 2, 'invalid', '--lease: must be from 1s to 7d'],
    ['task claim --team demo --as lead --lease 8d', 2, 'invalid', '--lease: must be from 1s to 7d'],
    ['hook register TaskCreated true --team demo --timeout 2h', 2, 'invalid', '--timeout: must be from 1ms to 1h'],
    ['down demo --within 2h', 2, 'invalid', '--within: must be from 0s to 1h'],
    ['hlep', 2, 'invalid', 'did you mean troupe help?'],
    ['tsak list', 2, 'invalid', 'did you mean troupe task?'],
    ['task lits --team demo', 2, 'invalid', 'did you mean troupe task list?'],
    ['create demo', 2, 'invalid', 'did you mean troupe team create?'],
    ['task list --teem demo', 2, 'invalid', 'There is no flag --teem; did you mean --team?'],
    ['task list', 2, 'invalid', 'Say which team; demo, lively are open. Such as: troupe task list --team demo'],
    ['watch', 2, 'invalid', 'Say which team; demo, lively are open. Such as: troupe watch demo'],
    ['task list demo', 2, 'invalid', '"demo" is one argument too many; a team is named with --team demo'],
    ['approve worker-1 --yes', 2, 'invalid', 'There is no flag --yes: without --deny, the answer is yes'],
    ['task show 99 --team demo', 3, 'not_found', 'does not exist: troupe task list --team demo shows which exist'],
    ['inbox ann --team demo', 3, 'not_found', 'Team demo has no member "ann"; it has '],
    ['status demo', 2, 'invalid', 'of a team it is troupe team status demo'],
    ['task update 1 --team demo --epoch 1', 2, 'invalid', 'Say what to change: --title, --description,'],
    ['logs worker-1 -n -5', 2, 'invalid', '--lines must be a whole number from 0 on, not "-5"'],
    ['peek', 2, 'invalid', '<member> is missing: the member; troupe ps lists the running ones'],
    ['serve --frob', 2, 'invalid', 'There is no flag --frob'],
    ['serve --prot 4040', 2, 'invalid', 'There is no flag --prot; did you mean --port?'],
    ['serve here', 2, 'invalid', '"here" is one argument too many'],
    ['serve --port 1 --port 2', 2, 'invalid', '--port is given twice'],
    ['serve --log-level loud', 2, 'invalid', '--log-level must be one of debug, info, warn, error, not "loud"'],
    ['task show --team demo', 2, 'invalid', "<task> is missing: the task, such as 1 or '#1'"],
    ['task list --team --status', 2, 'invalid', '--team needs a value; for the text --status write --team=--status'],
    ['task list --team demo --team demo', 2, 'invalid', '--team is given twice'],
    ['task list --team demo --status open', 2, 'invalid', '--status must be one of pending, in_progress'],
    ['task list --team demo --limit many', 2, 'invalid', '--limit must be a number, not "many"'],
    ['task claim --team demo --wait soon', 2, 'invalid', '--wait must be a time such as 30s'],
    ['task add a b --team demo', 2, 'invalid', '"b" is one argument too many; put a text with spaces in quotes'],
    ['task add Title --team demo --metadata {', 2, 'invalid', '--metadata must be JSON'],
    [
      'task add Title --team demo --needs 1,,2',
      2,
      'invalid',
      '--needs has nothing between two commas, or at an end: "1,,2"',
    ],
    ['send worker-1 "" --team demo', 2, 'invalid', '<text>: must not be empty'],
    ['send worker-1 - --team demo', 2, 'invalid', 'must not be empty'],
    ['mcp --frob', 2, 'invalid', 'There is no flag --frob'],
    ['mcp demo', 2, 'invalid', '"demo" is one argument too many; a team is named with --team demo'],
    ['task complete 4 --team demo --as worker-2', 5, 'not_allowed', 'only its holder may; claim it first'],
    ['team close lively', 4, 'conflict', 'shut them down first, or close it anyway (--force)'],
    ['send worker-1 --team demo', 2, 'invalid', 'The text is missing'],
    ['send worker-1 text --all --team demo', 2, 'invalid', 'Send to "worker-1" or to all, not both'],
    ['--frob', 2, 'invalid', 'There is no flag --frob without a command before it'],
    ['completion', 2, 'invalid', '<shell> is missing: the shell: bash, zsh, fish'],
    ['peek nobody', 3, 'not_found', 'No open team has a member "nobody"; there is '],
    ['peek worker-3', 3, 'not_found', 'did you mean worker-1 of team demo? Add --team demo'],
    ['completion fsh', 2, 'invalid', 'did you mean fish?'],
    ['completion tcsh', 2, 'invalid', '<shell> must be one of bash, zsh, fish'],
    ['logs', 2, 'invalid', 'Whose log? Use troupe logs MEMBER, or troupe logs --daemon'],
    ['task show one --team demo', 2, 'invalid', '<task>: is not a task id'],
    ['team create Über', 2, 'invalid', 'try "uber"'],
    ['task show 99 --team demo', 3, 'not_found', 'Task "99"'],
    ['team show nowhere', 3, 'not_found', 'There is no team "nowhere"; there is demo, lively'],
    [
      'task list --team dmeo',
      3,
      'not_found',
      'There is no team "dmeo"; did you mean demo? troupe teams lists them all',
    ],
    ['team delete demmo', 3, 'not_found', 'did you mean demo?'],
    ['watch nowhere', 3, 'not_found', 'nowhere'],
    ['send nobody text --team demo --as lead', 3, 'not_found', 'nobody'],
    ['team create demo', 4, 'exists', 'demo'],
    ['task claim 1 --team demo --as worker-2', 4, 'claim_conflict', 'worker-1'],
    ['task claim 2 --team demo --as worker-2', 4, 'blocked', 'waits for task 1'],
    ['task complete 1 --team demo --as worker-1 --epoch 7', 4, 'stale_epoch', 'epoch'],
    ['task depend 2 2 --team demo', 4, 'cycle', '2'],
    ['task complete 1 --team demo --as worker-2', 5, 'not_allowed', 'worker-2'],
    ['task complete 2 --team demo --as worker-2', 4, 'blocked', 'it waits for task 1 (in progress, held by worker-1)'],
    ['task complete 3 --team demo --as worker-1', 4, 'conflict', 'it is finished; reopen it first'],
    ['task claim --team demo', 2, 'invalid', 'can do that, and you are calling as @user: pass --as MEMBER'],
    ['up nofile.yaml', 3, 'not_found', 'There is no team file nofile.yaml. Make one with: troupe init'],
    [
      `up ${TEAM_FILES}/nofile.yaml`,
      3,
      'not_found',
      `nofile.yaml; did you mean troupe.yaml? troupe up ${TEAM_FILES}/troupe.yaml`,
    ],
    [`up ${TEAM_FILES}/reveiw.yaml`, 3, 'not_found', `did you mean review.yaml? troupe up ${TEAM_FILES}/review.yaml`],
    ['up nowhere/troupe.yaml', 3, 'not_found', 'There is no team file nowhere/troupe.yaml: there is no folder nowhere'],
    [
      `up ${TEAM_FILES}/review.yaml`,
      2,
      'invalid',
      `review.yaml:3:31 (and 4:31): cannot run ./gone.sh in ${TEAM_FILES}: there is no`,
    ],
    [
      'init --file nowhere/dir/x.yaml',
      2,
      'invalid',
      'nowhere/dir/x.yaml cannot be written: there is no folder nowhere/dir. Create it first: mkdir -p nowhere/dir',
    ],
    [
      'init --file package.json/x.yaml',
      2,
      'invalid',
      'a part of its path is a file, not a folder; choose another place',
    ],
    ['export demo nowhere/run.html', 2, 'invalid', 'there is no folder nowhere. Create it first: mkdir -p nowhere'],
    ['export demo src', 4, 'conflict', 'src is a folder: name a file'],
    ['export demo --force src', 2, 'invalid', 'src cannot be written: it is a folder; name a file'],
    ['patch --team demo -o nowhere/x.patch', 2, 'invalid', 'there is no folder nowhere. Create it first'],
    [
      'run x --lead claude --folder nowhere',
      2,
      'invalid',
      'nowhere: there is no such folder; create it, or name another',
    ],
    ['work locate nowhere --team demo', 4, 'conflict', 'Team demo has no workspaces: its members share a folder'],
    ['journal init nats://h:1 --config package.json', 2, 'invalid', 'package.json is a file: name a folder'],
    ['import nowhere.troupe', 3, 'not_found', 'There is no file nowhere.troupe: check the name'],
    ['import src', 2, 'invalid', 'src cannot be read: it is a folder; name a file'],
    ['serve --tls-cert nowhere.pem --tls-key nowhere.key', 3, 'not_found', 'There is no file nowhere.pem'],
    ['up .', 2, 'invalid', '. is a folder: name the team file in it, as in troupe up troupe.yaml'],
    [
      'run x --lead ./lead.sh',
      2,
      'invalid',
      'To run your own program, write agent: { exec: ./lead.sh } in a team file',
    ],
    ['member spawn a --team demo --agent exec', 2, 'invalid', 'name it, as in {"exec": "./work.sh"}'],
    [
      `team update demo --budget '{"usd":5}'`,
      2,
      'invalid',
      '--budget: it has no key "usd"; --budget is the budget, as JSON: {"costUsd":5,',
    ],
    ['inbox --team demo', 2, 'invalid', 'Whose inbox? Name one: troupe inbox MEMBER --team demo'],
  ])('of "%s" ends with %i, and %s', async (line, exit, code, words) => {
    const plain = await troupe.ask(line);
    expect(plain).toMatchObject({ status: exit, stdout: '' });
    expect(plain.stderr).toMatch(/^troupe: /);
    expect(plain.stderr).toContain(words);
    expect(plain.stderr.includes('--help')).toBe(exit === 2 && plain.stderr.includes('See: '));

    const json = await troupe.ask(`${line} --json`);
    expect(json).toMatchObject({ status: exit, stdout: '' });
    const { error } = JSON.parse(json.stderr) as { error: { code: string; message: string } };
    expect(Object.keys(JSON.parse(json.stderr) as object)).toEqual(['error']);
    expect(error).toEqual({ code, message: expect.stringContaining(words) as string });
  });

  test('of an unknown command is the same with --json before it', async () => {
    expect((await troupe.ask('--json dance')).stderr).toBe((await troupe.ask('dance --json')).stderr);
  });

  test('of an unknown token ends with 5', async () => {
    const env = { TROUPE_TOKEN: 'nobody-has-this' };
    expect(await troupe.run('task list --team demo', { env })).toMatchObject({ status: 5, stdout: '' });
    const file = { TROUPE_TOKEN_FILE: '/does/not/exist' };
    const missing = await troupe.run('task list --team demo', { env: file });
    expect(missing).toMatchObject({ status: 5, stdout: '' });
    expect(missing.stderr).toContain('/does/not/exist (TROUPE_TOKEN_FILE): make a new one with troupe member token');
  });

  test('is not reported when the reader has closed the pipe', async () => {
    for (const words of ['task list --team demo', 'export demo -', 'export demo --journal -']) {
      const { child, ended } = troupe.start(words);
      child.stdout.destroy();
      expect(await ended, words).toMatchObject({ status: 0, stderr: '' });
    }
  });
});

test('a daemon that would accept other machines names the flags that it needs', async () => {
  const refused = await newTroupe().run('serve --bind 0.0.0.0');
  expect(refused).toMatchObject({ status: 2, stdout: '' });
  expect(refused.stderr).toContain('--tls-cert FILE --tls-key FILE --origin https://name:port');
});

test('an unknown team is reported with the command that makes one, if there is no team and the command ends none', async () => {
  const troupe = newTroupe();
  const { status, stderr } = await troupe.run('team show nowhere');
  expect(status).toBe(3);
  expect(stderr).toContain('There is no team "nowhere"; there is none yet: troupe team create NAME makes one');
  for (const words of ['team delete nowhere --yes', 'down nowhere', 'team close nowhere']) {
    const { stderr: refusal } = await troupe.ask(words);
    expect(refusal).toBe('troupe: There is no team "nowhere"; there is none at all\n');
  }
});

test('a command that finds no daemon and may not start one ends with 75', async () => {
  const troupe = newTroupe();
  const env = { TROUPE_NO_AUTOSTART: '1' };
  const plain = await troupe.run('task list --team demo', { env });
  expect(plain).toMatchObject({ status: 75, stdout: '' });
  expect(plain.stderr).toMatch(
    /No daemon is running for .*, and TROUPE_NO_AUTOSTART is set: start one with troupe serve/,
  );
  const json = await troupe.run('status --json', { env });
  expect(json).toMatchObject({ status: 75, stdout: '' });
  expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: 'no_daemon' } });
});
