import { appendFileSync, mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { needTool } from '../tools.ts';
import { until } from '../until.ts';
import { openTerminal } from './terminal.ts';
import { newTroupe, sharedTroupe } from './troupe.ts';

const line = (event: string, facts: object = {}): string =>
  `${JSON.stringify({ time: '2026-01-01T00:00:00.000Z', level: 'info', event, ...facts })}\n`;

/** One daemon for the tests of transcripts, each with its own team. */
const troupe = sharedTroupe();

describe('the transcript of a member', () => {
  test('is reported as missing if Troupe runs no agent for the member', async () => {
    await troupe.ask('team create silent');
    const nothing = 'lead of silent has no transcript: Troupe runs no agent for it.\n';
    expect(await troupe.ask('logs lead --team silent')).toEqual({ status: 0, stdout: '', stderr: nothing });
    await troupe.ask('member add ann --team silent --agent-type tester');
    const peeked = await troupe.ask('peek ann --team silent');
    expect(peeked).toMatchObject({ status: 0, stderr: 'ann has no agent that Troupe runs, and so no transcript.\n' });
    expect(peeked.stdout).toMatch(/ agent +none that Troupe runs \(tester\)\n/);
  });

  test('is not followed if nothing can come, but messages are sent', async () => {
    await troupe.ask('team create aimless');
    await troupe.ask('member add ann --team aimless');
    const nothing = 'ann has no agent that Troupe runs: there is nothing to follow.\n';
    expect(await troupe.run('attach ann --team aimless')).toMatchObject({ status: 0, stderr: nothing });
    const told = await troupe.run('attach ann --team aimless', { input: 'first\n!second\n' });
    expect(told).toMatchObject({ status: 0, stderr: `Sent to ann.\nSent to ann.\n${nothing}` });
    expect(told.stdout).toMatch(/^ann of aimless\. Lines of standard input are sent to it\./);
    expect(await troupe.askJson('inbox --team aimless --of ann')).toMatchObject([
      { content: 'first', priority: 'normal' },
      { content: 'second', priority: 'urgent' },
    ]);
  });

  test('is followed until the member or its team ends; a greeting comes only if there is such a member', async () => {
    await troupe.ask('team create followed');
    for (const name of ['ann', 'bob']) {
      await troupe.ask(['member', 'spawn', name, '--team', 'followed', '--agent', '{"exec":["true"]}']);
    }
    expect(await troupe.run('attach eve --team followed')).toEqual({
      status: 3,
      stdout: '',
      stderr: 'troupe: Team followed has no member "eve"; it has lead, ann, bob\n',
    });
    const ann = troupe.start('attach ann --team followed', { input: 'first\n' });
    const bob = troupe.start('attach bob --team followed');
    await until(
      'both have begun',
      () => ann.output.stdout.startsWith('ann of') && bob.output.stdout.startsWith('bob of'),
    );
    await until('its line is sent', () => ann.output.stderr.startsWith('Sent to ann'));
    await troupe.ask('member stop ann --team followed');
    expect((await ann.ended).stderr).toMatch(/^Sent to ann.*\nann has stopped\.\n$/);
    await troupe.ask('team down followed --now');
    expect(await bob.ended).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/is closed|has stopped/) as string,
    });
    expect(await troupe.run('attach lead --team followed')).toMatchObject({
      status: 0,
      stderr: 'Team followed is closed.\n',
    });
  });
});

test('a member that was restarted has earlier sessions, which are listed and can be read', async () => {
  const file = join(temporaryFolder(), 'troupe.yaml');
  const exec = "[sh, -c, 'cat > /dev/null; echo turn of $TROUPE_TASK_ID; test -e go || sleep 60']";
  writeFileSync(
    file,
    `team: renewed\nmembers: [{ name: ann, agent: { exec: ${exec} } }]\ntasks: [{ id: a, title: A }]\n`,
  );
  const first = troupe.start(['up', '--yes', file]);
  const saysTurn = async (): Promise<boolean> =>
    (await troupe.ask('logs ann --team renewed')).stdout.includes('turn of 1');
  await until('it works', saysTurn);
  const listed = (await troupe.ask('session list --team renewed')).stdout;
  // A team without a lead lists none.
  expect(listed).not.toMatch(/^lead/m);
  const id = /^ann +\S+ +(\S+)/m.exec(listed)?.[1] ?? '';
  expect(await troupe.askJson('member show ann --team renewed')).toMatchObject({ sessionId: id });
  expect((await troupe.ask('logs ann --team renewed')).stderr).toBe('');
  first.child.kill('SIGINT');
  await first.ended;
  writeFileSync(join(file, '../go'), '');
  expect(await troupe.ask(['up', '--yes', file])).toMatchObject({ status: 0 });
  const { stderr } = await troupe.ask('logs ann --team renewed');
  expect(stderr).toContain(`troupe transcript read ann --team renewed --session ID, with ${id} (newest first)`);
  expect((await troupe.ask('logs ann --team renewed --json')).stderr).toBe('');
  const all = (await troupe.ask('logs ann --team renewed')).stdout.split(/(?<=\n)/);
  expect(all.length).toBeGreaterThan(2);
  expect((await troupe.ask('logs ann --team renewed -n 2')).stdout).toBe(all.slice(-2).join(''));
  expect((await troupe.ask('logs ann --team renewed -n 2 --json')).stdout).toMatch(/^\{.*\}\n\{.*\}\n$/);
  const read = (session: string): ReturnType<typeof troupe.run> =>
    troupe.ask(`transcript read ann --team renewed --session ${session}`);
  expect(await read(id)).toMatchObject({ status: 0, stdout: expect.stringContaining('turn of 1') as string });
  expect(await read('bogus')).toMatchObject({ status: 3, stderr: expect.stringContaining(id) as string });
});

test('of many earlier sessions the newest are listed, in lines that wrap at words, with the way to see the others', async (context) => {
  needTool(context, 'tmux');
  await troupe.ask('team create often');
  await troupe.ask('member add ann --team often');
  const folder = join(troupe.home, 'transcripts/often/ann');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const ids = Array.from({ length: 9 }, (_, at) => `${at}0c0ffee-0000-4000-8000-000000000000`);
  for (const [at, id] of ids.entries()) {
    const path = join(folder, `${id}.jsonl`);
    writeFileSync(path, `${JSON.stringify({ at: 0, type: 'text', text: `session ${at}` })}\n`);
    utimesSync(path, at, at);
  }
  const terminal = openTerminal(troupe, 'troupe logs ann --team often', { columns: 60 });
  const shown = await terminal.see('ended with 0');
  for (const line of shown.trimEnd().split('\n')) expect(line.length).toBeLessThanOrEqual(60);
  const said = shown.replace(/\n +/g, ' ');
  expect(said).toContain('troupe transcript read ann --team often --session ID, with');
  expect(said).toContain(`${ids[7]}, ${ids[6]}, ${ids[5]} (the newest of 8;`);
  expect(said).not.toContain(ids[4]);
  const { earlier } = await troupe.askJson<{ earlier: string[] }>('transcript read ann --team often');
  expect(earlier).toEqual(ids.slice(0, 8));
});

test('a line that arrives in two reads is shown as one line', async () => {
  await troupe.ask('team create pieces');
  await troupe.ask('member add ann --team pieces');
  const folder = join(troupe.home, 'transcripts/pieces/ann');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const tell = (entry: object): void =>
    appendFileSync(join(folder, 's.jsonl'), `${JSON.stringify({ at: 0, ...entry })}\n`);
  tell({ type: 'text', text: 'The par', unfinished: true });
  const following = troupe.start('logs ann --team pieces -f');
  const shown = (): string => following.output.stdout.replace(/\d\d:\d\d:\d\d /g, '');
  await until('the first piece is there', () => shown() === 'The par');
  tell({ type: 'text', text: 'ser is', continues: true, unfinished: true });
  await until('the second piece is there', () => shown() === 'The parser is');
  tell({ type: 'text', text: ' done', continues: true });
  tell({ type: 'turnEnd', reason: 'done' });
  await until('the end is there', () => shown() === 'The parser is done\n■ done\n');
});

test('a follower sees a later session at once, even while it is shorter than the one before', async () => {
  await troupe.ask('team create later');
  await troupe.ask('member add ann --team later');
  const folder = join(troupe.home, 'transcripts/later/ann');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const tell = (session: string, ...texts: string[]): void => {
    const lines = texts.map((text) => `${JSON.stringify({ at: 0, type: 'text', text })}\n`);
    appendFileSync(join(folder, `${session}.jsonl`), lines.join(''));
  };
  tell('first', 'What was done in the first session', 'and how that ended');
  const following = troupe.start('logs ann --team later -f');
  const shown = (): string[] => following.output.stdout.replace(/\d\d:\d\d:\d\d /g, '').split('\n');
  const before = ['What was done in the first session', 'and how that ended'];
  await until('the first session is shown', () => shown().length === 3);
  tell('second', 'Anew');
  await until('the second session is shown', () => shown().length > 3);
  tell('second', 'and on');
  await until('it is followed', () => shown().length > 4);
  expect(shown()).toEqual([...before, 'Anew', 'and on', '']);
});

describe("the daemon's log", () => {
  test('is shown in words, at most -n lines of it, even lines of another format', async () => {
    const troupe = newTroupe();
    expect(await troupe.ask('logs --daemon')).toMatchObject({ status: 3, stdout: '' });
    mkdirSync(troupe.home, { mode: 0o700 });
    const entries = [
      line('one'),
      line('two', { pid: 7, text: 'with spaces', nested: { a: 1 } }),
      'Error: \x1b[31mtrace\n',
    ];
    writeFileSync(join(troupe.home, 'daemon.log'), entries.join(''));
    expect((await troupe.ask('logs --daemon')).stdout).toBe(
      [
        '2026-01-01T00:00:00.000Z info  one',
        '2026-01-01T00:00:00.000Z info  two pid=7 text="with spaces" nested={"a":1}',
        'Error: [31mtrace',
        '',
      ].join('\n'),
    );
    expect((await troupe.ask('logs --daemon -n 2')).stdout.split('\n')).toHaveLength(3);
    expect((await troupe.ask('logs --daemon --json -n 3')).stdout.split('\n')[0]).toBe(line('one').trimEnd());
    expect(await troupe.ask('stop')).toMatchObject({ status: 75 });
  });

  test('is followed across a rotation', async () => {
    const troupe = newTroupe();
    const path = join(troupe.home, 'daemon.log');
    mkdirSync(troupe.home, { mode: 0o700 });
    writeFileSync(path, line('first'));
    const following = troupe.start('logs --daemon -f');
    await until('the first is there', () => following.output.stdout.includes('first'));
    appendFileSync(path, line('second'));
    await until('the second is there', () => following.output.stdout.includes('second'));
    renameSync(path, `${path}.1`);
    writeFileSync(path, line('third'));
    await until('the third is there', () => following.output.stdout.includes('third'));
    following.child.kill('SIGINT');
    expect(await following.ended).toMatchObject({ status: 130, stderr: '' });
  });

  test('comes from a real daemon', async () => {
    expect((await troupe.ask('logs --daemon')).stdout).toMatch(/info {2}daemon\.ready .*pid=\d+/);
  });
});
