import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { execAgent } from '../../src/agents/exec.ts';
import { endMarked, findMarked } from '../../src/agents/process.ts';
import { defaultStart, describeAgent, hear, message, turn } from '../contracts/agent.ts';
import type { Heard } from '../contracts/agent.ts';
import { HANG_MS } from '../until.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures/agents');

describeAgent('exec', () => ({
  agent: (manner) => fixture(manner === 'failing' ? 'crashes' : manner),
  absent: () => execAgent({ command: ['no-such-program'] }),
}));

describe('a program', () => {
  test('gets the turn as JSON: the task, the messages, the feedback on its last attempt', async () => {
    const session = await start(execAgent({ command: ['cat'] }), { sessionId: 's-1' });
    const task = { id: '7', title: 'Seven', epoch: 2 } as never;
    await session.send({ text: 'do it', task, messages: [message('m-1')], feedback: 'not yet' }, { when: 'next' });
    const { text } = await session.end(1);
    expect(JSON.parse(text)).toMatchObject({
      teamId: 'demo',
      memberId: 'worker',
      sessionId: 's-1',
      role: 'teammate',
      task: { id: '7', title: 'Seven', epoch: 2 },
      messages: [{ id: 'm-1', content: 'content of m-1' }],
      feedback: 'not yet',
      prompt: 'do it',
    });
  });

  test('is never reported as an overloaded model, whatever it prints', async () => {
    const session = await start(
      execAgent({ command: ['sh', '-c', 'echo "429 of 503 tests failed: overloaded" >&2; exit 1'] }),
    );
    await session.send(turn('x'), { when: 'next' });
    const end = await session.end(1);
    expect(end).toMatchObject({ reason: 'failed', error: expect.stringContaining('429 of 503') as string });
    expect(end.trouble).toBeUndefined();
  });

  test('finds its task and folder in its environment', async () => {
    const session = await start(execAgent({ command: ['sh', '-c', 'echo "$TROUPE_TASK_ID in $PWD"'] }));
    await session.send({ ...turn('x'), task: { id: '7' } as never }, { when: 'next' });
    expect((await session.end(1)).text).toBe(`7 in ${defaultStart().cwd}`);
  });

  test('reports events as lines of JSON; other lines are text', async () => {
    const lines = [
      { type: 'text', text: 'hello' },
      { type: 'tool', id: 't1', name: 'grep', status: 'done', output: 'x' },
      { type: 'usage', usage: { inputTokens: 5 } },
      { type: 'nonsense', text: 'stays text' },
      { type: 'result', text: 'the result' },
    ].map((line) => JSON.stringify(line));
    const session = await start(execAgent({ command: ['printf', '%s\\n', 'plain', ...lines, '{broken'] }));
    await session.send(turn('x'), { when: 'next' });
    expect(await session.end(1)).toMatchObject({ reason: 'done', text: 'the result' });
    expect(session.events.map(({ type }) => type).filter((type) => type !== 'shown')).toEqual([
      'text',
      'text',
      'tool',
      'usage',
      'text',
      'text',
      'turnEnd',
    ]);
  });

  test('may write long lines of any script; only a line beyond the limit is cut into several', async () => {
    const long = '劇団'.repeat(25_000);
    const program = `
      process.stdout.write('${'é'.repeat(10)}'.repeat(20_000) + '\\n');
      process.stdout.write(JSON.stringify({ type: 'result', text: '劇団'.repeat(25_000) }));
    `;
    const session = await start(execAgent({ command: [process.execPath, '-e', program] }));
    await session.send(turn('x'), { when: 'next' });
    expect((await session.end(1)).text).toBe(long);
    const pieces = session.events.flatMap((event) => (event.type === 'text' ? [event.text] : []));
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join('')).toBe('é'.repeat(200_000));
  });

  test('that fails gives its exit code and standard error as the reason', async () => {
    const session = await start(fixture('crashes'));
    await session.send(turn('x'), { when: 'next' });
    const { error } = await session.end(1);
    expect(error).toMatch(/crashes\.js exited with code 3: the disk is full of cats$/);
  });

  test.each([
    ['is killed', 'kill -9 $$', 'SIGKILL'],
    ['is a shell whose program was killed', `sh -c 'kill -9 $$'; exit $?`, 'SIGKILL'],
    ['crashes', 'kill -SEGV $$', 'SIGSEGV'],
  ])('that %s gave no verdict: its session is lost, with the signal as the reason', async (_, script, signal) => {
    const session = await start(execAgent({ command: ['sh', '-c', script] }));
    await session.send(turn('x'), { when: 'next' });
    const error = expect.stringContaining(`was ended by ${signal}`) as string;
    expect(await session.end(1)).toMatchObject({ reason: 'failed', lost: true, error });
    await session.over;
  });

  test.each([
    ['is killed', 'kill -9 $$'],
    ['fails', 'exit 1'],
    ['is a shell whose program was killed', `sh -c 'kill -9 $$'; exit $?`],
  ])('that %s was shown no message, because it may not have read its input', async (_, script) => {
    const session = await start(execAgent({ command: ['sh', '-c', script] }));
    await session.send({ ...turn('x'), messages: [message('m-1')] }, { when: 'next' });
    expect(await session.end(1)).toMatchObject({ reason: 'failed' });
    expect(session.events.filter(({ type }) => type === 'shown')).toEqual([]);
  });

  test('that closes its input unread can still succeed, and was shown no message', async () => {
    const session = await start(execAgent({ command: ['sh', '-c', 'exec 0<&-; sleep 0.3; echo ok'] }));
    const large = message('m-1', 'x'.repeat(1_000_000));
    await session.send({ ...turn('x'), messages: [large] }, { when: 'next' });
    expect(await session.end(1)).toMatchObject({ reason: 'done', text: 'ok' });
    expect(session.events.filter(({ type }) => type === 'shown')).toEqual([]);
  });

  test('in a folder that does not exist is refused', async () => {
    await expect(fixture('quick').start({ ...defaultStart(), cwd: '/no/such/folder' })).rejects.toThrow(
      /no\/such\/folder/,
    );
  });

  test.each(['hangs', 'ignores-term'])('that %s is killed when the turn is cancelled', async (name) => {
    const pids: number[] = [];
    // `hangs` ends on SIGTERM and gets time for it; `ignores-term` never would.
    const session = await start(fixture(name, name === 'hangs' ? HANG_MS : 1), { onProcess: (pid) => pids.push(pid) });
    await session.send(turn('x'), { when: 'next' });
    await session.heardText('working');
    await session.cancel();
    expect(await session.end(1)).toMatchObject({ reason: 'cancelled' });
    expect(() => process.kill(pids[0] as number, 0)).toThrow('ESRCH');
  });

  test('leaves no process behind, even outside of its group, and its result does not wait for them', async () => {
    const session = await start(fixture('escapes'));
    // They sleep for 15 minutes and hold the pipe. A result that waits for them would never come.
    await session.send(turn('x'), { when: 'next' });
    expect(await session.end(1)).toMatchObject({ reason: 'done', text: 'gone' });
    expect(findMarked(session.id)).toEqual([]);
  });

  test.each(['text', 'json', 'line'])(
    'that prints 100 MB (%s) costs little memory, and the end of its output is kept',
    async (FLOOD) => {
      const { env } = defaultStart();
      const session = await start(fixture('floods'), { env: { ...env, FLOOD } });
      const before = process.memoryUsage().rss;
      await session.send(turn('x'), { when: 'next' });
      const end = await session.end(1);
      expect(end.reason).toBe('done');
      expect(end.text).toMatch(/the end$/);
      const said = session.events.reduce((sum, event) => sum + (event.type === 'text' ? event.text.length : 0), 0);
      expect(said).toBeLessThan(5_000_000);
      expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
    },
  );
});

function fixture(name: string, graceMs?: number) {
  return execAgent({ command: [join(FIXTURES, `${name}.js`)], graceMs });
}

/** A session with a unique marker, by which the processes that it leaves can be found. */
async function start(
  agent: ReturnType<typeof execAgent>,
  {
    sessionId = `test-${crypto.randomUUID()}`,
    ...more
  }: Partial<ReturnType<typeof defaultStart>> & { sessionId?: string } = {},
): Promise<Heard> {
  onTestFinished(async () => void (await endMarked(sessionId)));
  return hear(await agent.start({ ...defaultStart(), ...more, resume: sessionId }));
}
