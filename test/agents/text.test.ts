import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../src/agents/agent.ts';
import { newTelling } from '../../src/agents/claude/telling.ts';
import { Thread } from '../../src/agents/codex/thread.ts';
import { execAgent } from '../../src/agents/exec.ts';
import { textFlow } from '../../src/agents/text.ts';
import { wholeLines } from '../../src/cli/show/transcript-lines.ts';
import { toSteps } from '../../ui/log/steps.ts';
import { defaultStart, hear, turn } from '../contracts/agent.ts';

const ANSWER =
  'Two things:\n\n- the parser\n- the printer\n\n```sh\nif true; then\n    npm test\n\nfi\n```\n\n# Next\nGo on.';

describe('streamed text', () => {
  test('is complete and unchanged, wherever it was split', () => {
    const piece = fc.oneof(fc.constantFrom('\n', '\n\n', '    ', ' ', '- a', '```\n'), fc.string());
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const told: AgentEvent[] = [];
        const flow = textFlow((said) => told.push(said));
        for (const one of pieces) flow.add(one);
        flow.flush();
        expect(bare(read(told))).toBe(bare(pieces.join('')));
      }),
    );
  });

  test('is emitted before a line is complete, and the rest is marked as a continuation', async () => {
    const told: AgentEvent[] = [];
    const flow = textFlow((said) => told.push(said));
    flow.add('\nfirst\n\nse');
    await expect.poll(() => told.length).toBe(2);
    flow.add('cond\nthi');
    await expect.poll(() => told.length).toBe(4);
    flow.add('\n');
    flow.add('\nfourth');
    flow.flush();
    flow.add('another text');
    flow.flush();
    expect(told).toEqual([
      { type: 'text', text: 'first\n' },
      { type: 'text', text: 'se', unfinished: true },
      { type: 'text', text: 'cond', continues: true },
      { type: 'text', text: 'thi', unfinished: true },
      { type: 'text', text: '\nfourth' },
      { type: 'text', text: 'another text' },
    ]);
    expect(read(told)).toBe('first\n\nsecond\nthi\n\nfourth\nanother text');
    const lines = wholeLines(told.map((event) => ({ at: 0, ...event })));
    expect(lines.map(({ text }) => text)).toEqual(['first\n', 'second', 'thi', '\nfourth', 'another text']);
  });
});

describe('line breaks are kept in the text of', () => {
  test('Claude Code', () => {
    const told: AgentEvent[] = [];
    const telling = newTelling((event) => told.push(event));
    for (const text of tokens(ANSWER)) {
      telling.hear({
        type: 'stream_event',
        event: { type: 'content_block_delta', delta: { type: 'text_delta', text } },
      });
    }
    telling.hear({ type: 'assistant', message: { model: 'm', content: [{ type: 'text', text: ANSWER }] } } as never);
    expect(read(told)).toBe(ANSWER);
  });

  test('Codex, even with an error in between', () => {
    const told: AgentEvent[] = [];
    const thread = new Thread(undefined);
    thread.id = 't';
    void thread.begin((event) => told.push(event));
    const say = (delta: string): void => thread.hear('item/agentMessage/delta', { threadId: 't', itemId: 'i', delta });
    for (const token of tokens(ANSWER)) say(token);
    thread.hear('item/completed', {
      threadId: 't',
      turnId: '1',
      item: { type: 'agentMessage', id: 'i', text: ANSWER },
    });
    say('One');
    thread.hear('error', { threadId: 't', turnId: '1', willRetry: true, error: { message: 'busy' } });
    say('more.');
    thread.hear('item/completed', {
      threadId: 't',
      turnId: '1',
      item: { type: 'agentMessage', id: 'j', text: 'more.' },
    });
    expect(read(told)).toBe(`${ANSWER}\nOne\nmore.`);
  });

  test('a program, as plain lines or as a text event', async () => {
    const told = JSON.stringify({ type: 'text', text: '# Told\n- a\n- b' });
    const agent = execAgent({ command: ['printf', '%s\\n', 'one', '', '    two', told, 'end'] });
    const session = hear(await agent.start(defaultStart()));
    await session.send(turn('go'), { when: 'next' });
    await session.end(1);
    expect(read(session.events)).toBe('one\n\n    two\n# Told\n- a\n- b\nend');
  });
});

/** The text that a reader of the transcript sees. */
function read(told: readonly AgentEvent[]): string {
  const texts = toSteps(told.map((event) => ({ at: 0, ...event }))).flatMap((step) =>
    step.kind === 'text' ? [step] : [],
  );
  return texts.map(({ text }) => text).join('');
}

function tokens(text: string): string[] {
  return text.match(/\s+|[^\s]{1,4}/g) ?? [];
}

/** The text without blank lines at the start and whitespace at the end. */
function bare(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd();
}
