import { expect, onTestFinished, test, vi } from 'vitest';
import { AcpSession } from '../../src/agents/acp/session.ts';
import type { AgentEvent } from '../../src/agents/agent.ts';
import { parseLine } from '../../src/agents/claude/lines.ts';
import { newTelling } from '../../src/agents/claude/telling.ts';
import { Thread } from '../../src/agents/codex/thread.ts';

/** A clock that the test moves. */
function holdTime(): void {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

test('Claude Code is alive while its model thinks and while a subagent works', () => {
  holdTime();
  const events: AgentEvent[] = [];
  const telling = newTelling((event) => events.push(event));
  const hear = (line: object): void => {
    const said = parseLine(JSON.stringify(line));
    if (said?.type === 'control_request' || said?.type === 'control_response' || !said) throw new Error('not parsed');
    telling.hear(said);
  };
  const thought = { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Let me see' } };
  hear({ type: 'stream_event', event: { type: 'message_start', message: {} }, parent_tool_use_id: null });
  hear({ type: 'stream_event', event: thought, parent_tool_use_id: null });
  vi.advanceTimersByTime(6_000);
  hear({ type: 'stream_event', event: thought, parent_tool_use_id: null });
  const step = { model: 'plain', content: [{ type: 'text', text: 'its own words' }] };
  hear({ type: 'assistant', message: step, parent_tool_use_id: 'toolu_1' });
  hear({ type: 'user', message: { content: [] }, parent_tool_use_id: 'toolu_1' });
  expect(events).toEqual([{ type: 'alive' }, { type: 'alive' }, { type: 'alive', toolId: 'toolu_1' }]);
});

test('Codex is alive while its model thinks, and waits for its subagents with a tool', async () => {
  const events: AgentEvent[] = [];
  const thread = new Thread(undefined);
  thread.id = 'main';
  void thread.begin((event) => events.push(event));
  const wait = { type: 'collabAgentToolCall', id: 'call_1', tool: 'wait', status: 'inProgress' };
  thread.hear('item/reasoning/summaryTextDelta', { threadId: 'main', itemId: 'rs_1', delta: 'Let me see' });
  thread.hear('item/started', { threadId: 'main', item: wait });
  thread.hear('item/started', { threadId: 'other', item: { type: 'commandExecution', id: 'call_2' } });
  thread.hear('item/completed', { threadId: 'main', item: { ...wait, status: 'completed' } });
  expect(events).toMatchObject([
    { type: 'alive' },
    { type: 'tool', name: 'wait', status: 'running' },
    { type: 'alive', toolId: 'call_1' },
    { type: 'tool', name: 'wait', status: 'done' },
  ]);
});

test('an agent that speaks ACP is alive while its model thinks', async () => {
  const events: AgentEvent[] = [];
  const agent = { usage: 'none', failure: 'refused' };
  const asked = Promise.withResolvers<{ stopReason: string }>();
  const peer = { request: () => asked.promise };
  const options = { agent, mode: 'full', tools: undefined, preface: undefined, isNew: true };
  const session = new AcpSession('one', peer as never, options as never);
  const ended = session.run({ text: 'go', messages: [] }, (event) => events.push(event), new AbortController().signal);
  session.hear({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'Let me see' } });
  session.hear({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Done' } });
  asked.resolve({ stopReason: 'end_turn' });
  expect(await ended).toMatchObject({ reason: 'done', text: 'Done' });
  expect(events.slice(0, 2)).toMatchObject([{ type: 'alive' }, { type: 'text', text: 'Done' }]);
});
