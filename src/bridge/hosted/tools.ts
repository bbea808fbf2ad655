import type { AgentEvent } from '../../agents/agent.ts';
import { blocksText } from '../../agents/text.ts';
import type { Told } from './record.ts';

/** How many characters of a tool's output are passed on; Claude Code's own record has all of it. */
const OUTPUT_LIMIT = 16_000;

/** Turns facts of the record into agent events: texts, tool calls and their results. */
export function newTools(tell: (event: AgentEvent) => void): { hear(told: Told): void } {
  const names = new Map<string, string>();
  return {
    hear(told) {
      if (told.type === 'answer' && told.text.trim() !== '' && !told.failed) tell({ type: 'text', text: told.text });
      else if (told.type === 'tool') {
        names.set(told.id, told.name);
        tell({ type: 'tool', id: told.id, name: told.name, status: 'running', input: told.input });
      } else if (told.type === 'result') {
        const name = names.get(told.id) ?? 'tool';
        names.delete(told.id);
        const output = blocksText(told.content).slice(0, OUTPUT_LIMIT);
        tell({ type: 'tool', id: told.id, name, status: told.failed ? 'failed' : 'done', output });
      }
    },
  };
}
