import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SYSTEM, USER } from '../../../src/core/actor.ts';
import type { NoticeMessage } from '../../../src/core/notice.ts';
import { memoryJournal } from '../../../src/journal/memory.ts';
import type { NewCommand } from '../../../src/ledger/ledger.ts';
import { keepNotices } from '../../../src/runtime/notices/keeper.ts';
import type { NoticesOptions, Sending } from '../../../src/runtime/notices/keeper.ts';
import { NotifySettings } from '../../../src/runtime/notices/settings.ts';
import { createRedactor } from '../../../src/runtime/redact.ts';
import { complete, claim, createTeam, run, task, TEAM } from '../../ledger/commands.ts';
import { openLedger } from '../../ledger/places.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { openWebhook } from '../../webhook.ts';

const TOKEN = 'hook-token-93f1c2d4e5';
const HOUR_MS = 3_600_000;

test('posts what a person is needed for and hands it to a program, without secrets, also after failures', async () => {
  const stage = await setStage();
  stage.answers.push(503, 503);
  const script = join(stage.folder, 'told.sh');
  writeFileSync(script, `#!/bin/sh\ncat >> "$1"\necho >> "$1"\n`);
  chmodSync(script, 0o700);
  const out = join(stage.folder, 'told; rm -rf x');
  await stage.open({ command: [script, out] });
  await ask(stage, `May I use ${TOKEN}? $(touch pwned)`);
  const [first] = await stage.got(3);
  expect(first).toEqual({
    team: TEAM,
    title: `Troupe: team ${TEAM}`,
    text: 'A question for you (ann): May I use [redacted]? $(touch pwned)',
    link: 'http://127.0.0.1:4000/queue',
    notices: [expect.objectContaining({ kind: 'person', memberId: 'ann' }) as object],
  });
  expect(stage.paths).toEqual(Array.from({ length: 3 }, () => `/in/${TOKEN}`));
  const told = await until(
    'the program has it',
    () => existsSync(out) && readFileSync(out, 'utf8').endsWith('\n') && readFileSync(out, 'utf8'),
  );
  expect(JSON.parse(told)).toEqual(first);
  await until('the trouble is over', () => stage.problems.size === 0);
  expect(stage.logged.filter((line) => line.startsWith('notice.failed'))).toHaveLength(2);
  expect(stage.logged.join('\n')).not.toContain(TOKEN);
});

test('what may not be sent yet waits, and goes out when it may, without what was answered meanwhile', async () => {
  const stage = await setStage();
  let isApproved = false;
  let asked = 0;
  await stage.open({}, { isAllowed: () => (asked++, isApproved) });
  await ask(stage, 'One?');
  await ask(stage, 'Two?', 'bob');
  await until('it was looked at', () => asked > 1);
  const [first = ''] = await stage.ledger.view(TEAM, ({ requests }) => [...requests.keys()]);
  await run(stage.ledger, { type: 'request.answer', by: USER, requestId: first, approve: true, feedback: 'Yes' });
  isApproved = true;
  const [message] = await stage.got(1);
  expect(message?.text).toBe('A question for you (bob): Two?');
});

test('after a restart sends what waited, and nothing twice', async () => {
  const stage = await setStage();
  const first = await stage.open({}, { collectMs: HOUR_MS });
  await ask(stage, 'One?');
  await first.close();
  const second = await stage.open();
  expect((await stage.got(1))[0]?.text).toContain('One?');
  await until('it is over', () => stage.logged.some((line) => line.startsWith('notice.sent')));
  await second.close();
  await stage.open();
  await ask(stage, 'Two?', 'bob');
  expect((await stage.got(2))[1]?.text).toBe('A question for you (bob): Two?');
});

test('sends at most one message in its time, and leaves out what was answered meanwhile', async () => {
  const stage = await setStage();
  const first = await stage.open({}, { everyMs: HOUR_MS });
  await ask(stage, 'One?');
  await stage.got(1);
  await until('it is over', () => stage.logged.some((line) => line.startsWith('notice.sent')));
  await ask(stage, 'Two?');
  await ask(stage, 'Three?', 'bob');
  await run(stage.ledger, task('Build'), claim('ann', '1'), { type: 'task.fail', by: 'ann', taskId: '1', reason: 'x' });
  const ids = await stage.ledger.view(TEAM, ({ requests }) => [...requests.keys()]);
  await run(stage.ledger, {
    type: 'request.answer',
    by: USER,
    requestId: ids[1] ?? '',
    approve: true,
    feedback: 'Yes',
  });
  await ask(stage, 'Four?', 'bob');
  await first.close();
  await stage.open({}, { everyMs: 1 });
  const [, summary] = await stage.got(2);
  expect(summary?.notices.map(({ text }) => text)).toEqual([
    'A question for you (bob): Three?',
    'A question for you (bob): Four?',
  ]);
});

test('warns of an account once, and again when it was used less in between', async () => {
  const stage = await setStage();
  await stage.open();
  const use = (used: number): NewCommand => ({
    type: 'account.report',
    by: 'ann',
    memberId: 'ann',
    windows: [{ name: 'week', used }],
  });
  await run(stage.ledger, { type: 'member.change', by: 'ann', memberId: 'ann', account: 'claude' }, use(0.8));
  await stage.got(1);
  await run(stage.ledger, use(0.9));
  await run(stage.ledger, use(0.1));
  await run(stage.ledger, use(0.85));
  const texts = (await stage.got(2)).map(({ text }) => text);
  expect(texts).toEqual(['Its account claude has used week 80 %.', 'Its account claude has used week 85 %.']);
});

test('collects during quiet hours', async () => {
  const stage = await setStage();
  const now = new Date();
  const clock = (ms: number) => new Date(now.getTime() + ms).toTimeString().slice(0, 5);
  const quiet = await stage.open({ quietHours: `${clock(-HOUR_MS)}-${clock(2 * HOUR_MS)}` });
  await ask(stage, 'One?');
  await quiet.close();
  await stage.open({ quietHours: `${clock(2 * HOUR_MS)}-${clock(3 * HOUR_MS)}`, on: ['person'] });
  await run(stage.ledger, task('Build'), claim('ann', '1'), complete('ann', '1'));
  await ask(stage, 'Two?', 'bob');
  const told = await until('both are told', async () => {
    const all = (await stage.got(1)).flatMap(({ notices }) => notices.map(({ text }) => text));
    return all.length >= 2 && all;
  });
  expect(told).toEqual(['A question for you (ann): One?', 'A question for you (bob): Two?']);
});

test('does not tell of teams that ended before it was switched on', async () => {
  const stage = await setStage();
  await run(stage.ledger, task('Build'), claim('ann', '1'), complete('ann', '1'));
  await stage.open();
  await run(stage.ledger, task('Ship'), claim('ann', '2'), complete('ann', '2'));
  expect((await stage.got(1))[0]?.text).toBe('The team is done: 2 tasks completed.');
  expect((await stage.got(1))[0]?.link).toBe(`http://127.0.0.1:4000/t/${TEAM}`);
});

test('leaves it to another daemon, and takes over what is open when that one is gone', async () => {
  const stage = await setStage();
  let isFirst = false;
  let looks = 0;
  const isSender = (): boolean => {
    looks += 1;
    return isFirst;
  };
  await stage.open({}, { isSender, everyMs: 10 });
  await run(stage.ledger, task('Build'), claim('ann', '1'), complete('ann', '1'));
  await until('it had its turn', () => looks > 0);
  await ask(stage, 'Still open?');
  await until('it had its turn again', () => looks > 3);
  isFirst = true;
  expect((await stage.got(1))[0]?.notices.map(({ kind }) => kind)).toEqual(['person']);
});

test('follows no redirect, and gives up on what no repetition changes', async () => {
  const stage = await setStage();
  stage.answers.push(307, 404);
  await stage.open({}, { everyMs: 1 });
  await ask(stage, 'One?');
  await until('it is given up', () => stage.logged.some((line) => line.startsWith('notice.lost')));
  expect([...stage.problems.values()]).toEqual([
    expect.stringMatching(/^Notices cannot be sent \(webhook\): 127\.0\.0\.1:\d+ answered 307$/),
  ]);
  await ask(stage, 'Two?', 'bob');
  await until('that too', () => stage.logged.filter((line) => line.startsWith('notice.lost')).length === 2);
  await ask(stage, 'Three?', 'bob');
  await until('the trouble is over', () => stage.problems.size === 0);
  expect(stage.paths.every((path) => path === `/in/${TOKEN}`)).toBe(true);
});

test('names the variable that the daemon lacks', async () => {
  const stage = await setStage();
  await stage.open({ webhook: { url: 'https://example.com/${NOT_SET}' } });
  await ask(stage, 'One?');
  await until('it is given up', () => stage.logged.some((line) => line.startsWith('notice.lost')));
  expect([...stage.problems.values()].join()).toContain('without the variable NOT_SET');
});

async function setStage() {
  const folder = temporaryFolder();
  const ledger = openLedger(memoryJournal());
  await createTeam(ledger);
  const bodies: NoticeMessage[] = [];
  const paths: string[] = [];
  const answers: number[] = [];
  const url = await openWebhook((path, body) => {
    bodies.push(JSON.parse(body) as NoticeMessage);
    paths.push(path);
    return answers.shift();
  });
  const environment = { ...process.env, HOOK_TOKEN: TOKEN };
  const logged: string[] = [];
  const note = (name: string, facts?: object) => void logged.push(`${name} ${JSON.stringify(facts)}`);
  const problems = new Map<string, string>();

  /** Starts to keep notices, as a daemon does. */
  async function open(
    settings: object = {},
    { isSender = () => true, isAllowed, ...options }: Partial<NoticesOptions & Sending> = {},
  ) {
    const webhook = { url: `${url}/in/\${HOOK_TOKEN}` };
    const given = NotifySettings.parse({ webhook, ...settings });
    const notices = keepNotices({
      ledger,
      sendingOf: () => ({ settings: given, directory: folder, isSender, isAllowed }),
      file: join(folder, 'notices.json'),
      environment,
      redactor: createRedactor(environment),
      log: { info: note, warn: note, error: note },
      health: { raise: (key, what) => void problems.set(key, what), clear: (key) => void problems.delete(key) },
      dashboard: () => 'http://127.0.0.1:4000',
      onError: (error) => {
        throw error;
      },
      collectMs: 1,
      everyMs: 1,
      pauses: { least: 1, most: 10 },
      ...options,
    });
    onTestFinished(() => notices.close());
    await notices.start();
    return notices;
  }

  return {
    folder,
    ledger,
    answers,
    paths,
    logged,
    problems,
    open,
    /** The messages, when there are so many. */
    got: (count: number) => until(`${count} messages arrive`, () => bodies.length >= count && bodies),
  };
}

function ask({ ledger }: Awaited<ReturnType<typeof setStage>>, content: string, memberId = 'ann'): Promise<void> {
  const raise: NewCommand = { type: 'request.raise', by: SYSTEM, kind: 'question', memberId, content };
  return run(ledger, raise);
}
