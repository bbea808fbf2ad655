import type { AgentEvent } from '../agent.ts';
import { lifeSigns } from '../alive.ts';
import { blocksText, keepOutput, textFlow } from '../text.ts';
import type { Heard } from './connection.ts';
import { windowsOf } from './limits.ts';

/** Turns Claude Code's messages about its work into events. */
export interface Telling {
  hear(said: Heard): void;
}

/** The model name of messages that Claude Code itself writes: errors, which the end of the turn reports too. */
const SYNTHETIC = '<synthetic>';

/** Starts with nothing told. */
export function newTelling(tell: (event: AgentEvent) => void): Telling {
  const tools = new Map<string, string>();
  const flow = textFlow(tell);
  const alive = lifeSigns(tell);
  let flowed = false;
  return {
    hear(said) {
      // The steps of its subagents are internal; their result is the result of the tool that started them.
      if ('parent_tool_use_id' in said && said.parent_tool_use_id) return alive(said.parent_tool_use_id);
      if (said.type === 'stream_event') {
        const { delta } = said.event;
        if (delta?.type !== 'text_delta') return alive();
        flowed = true;
        flow.add(delta.text);
      } else if (said.type === 'assistant' && said.message.model !== SYNTHETIC) {
        for (const block of said.message.content) {
          // A text that came in pieces comes once more as a whole.
          if (block.type === 'text' && !flowed) flow.add(block.text);
          if (block.type === 'text') flow.flush();
          flowed = false;
          if (block.type !== 'tool_use') continue;
          tools.set(block.id, block.name);
          tell({ type: 'tool', id: block.id, name: block.name, status: 'running', input: block.input });
        }
      } else if (said.type === 'user') {
        for (const block of said.message.content) {
          if (block.type !== 'tool_result') continue;
          const { tool_use_id: id, is_error: failed, content } = block;
          const name = tools.get(id) ?? 'tool';
          tools.delete(id);
          tell({
            type: 'tool',
            id,
            name,
            status: failed ? 'failed' : 'done',
            output: keepOutput(blocksText(content)),
          });
        }
      } else if (said.type === 'system' && said.subtype === 'api_retry') {
        const reason = `the model is not available (${said.error ?? 'error'} ${said.error_status ?? ''})`.replace(
          ' )',
          ')',
        );
        tell({ type: 'waiting', reason, until: Date.now() + (said.retry_delay_ms ?? 0) });
      } else if (said.type === 'system' && said.subtype === 'compact_boundary') tell({ type: 'compacted' });
      else if (said.type === 'rate_limit_event') {
        const windows = windowsOf(said.rate_limit_info);
        if (windows.length > 0) tell({ type: 'limits', windows });
      }
    },
  };
}
