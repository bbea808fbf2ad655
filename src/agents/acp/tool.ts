import type { ToolCall, ToolCallContent, ToolCallUpdate } from '@agentclientprotocol/sdk/unstable';
import type { AgentEvent } from '../agent.ts';

/** What is known of a call of a tool, from all that was told of it. */
export type KnownCall = Partial<ToolCall> & { readonly toolCallId: string };

type ToolEvent = Extract<AgentEvent, { type: 'tool' }>;

/** What is kept of a tool's output for those who watch; the model has the whole. */
const OUTPUT_LIMIT = 8 * 1024;

/** The same words as for every other agent: the titles of calls are sentences, often with the model's own text in them. */
const NAMES: Readonly<Record<string, string>> = {
  execute: 'shell',
  edit: 'edit',
  delete: 'edit',
  move: 'edit',
  read: 'read',
  search: 'search',
  fetch: 'fetch',
};

/** What is known after one more thing was told; fields that it leaves out stay. */
export function learn(known: KnownCall | undefined, update: ToolCall | ToolCallUpdate): KnownCall {
  const told = Object.fromEntries(Object.entries(update).filter(([, value]) => value !== undefined && value !== null));
  return { ...known, ...told } as KnownCall;
}

/** The name of the tool that a call is of. */
export function toolName({ kind, title, toolCallId }: KnownCall): string {
  return NAMES[kind ?? ''] ?? title ?? toolCallId;
}

/** What the tool was given; for a command that is told by its title alone, the command. */
export function toolInput({ kind, title, rawInput, locations }: KnownCall): unknown {
  if (rawInput !== undefined && JSON.stringify(rawInput) !== '{}') return rawInput;
  if (kind === 'execute') return { command: title };
  return locations && locations.length > 0 ? { paths: locations.map(({ path }) => path), title } : { title };
}

/** A call as an event. */
export function toolEvent(call: KnownCall): ToolEvent {
  const status = call.status === 'completed' ? 'done' : call.status === 'failed' ? 'failed' : 'running';
  const output = status === 'running' ? '' : textOf(call.content ?? []).slice(0, OUTPUT_LIMIT);
  const event = { type: 'tool', id: call.toolCallId, name: toolName(call), status, input: toolInput(call) } as const;
  return output === '' ? event : { ...event, output };
}

/** The text of what a call shows. */
export function textOf(content: readonly ToolCallContent[]): string {
  return content
    .flatMap((part) => (part.type === 'content' && part.content.type === 'text' ? [part.content.text] : []))
    .join('\n');
}
