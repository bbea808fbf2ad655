import type { ToolCall, ToolCallContent, ToolCallUpdate } from '@agentclientprotocol/sdk/unstable';
import type { AgentEvent } from '../agent.ts';

/** Everything known about a tool call so far. */
export type KnownCall = Partial<ToolCall> & { readonly toolCallId: string };

type ToolEvent = Extract<AgentEvent, { type: 'tool' }>;

/** How much of a tool's output is kept for viewers; the model has all of it. */
const OUTPUT_LIMIT = 8 * 1024;

/** The same names as for every other agent: titles of calls are sentences, often with the model's own text. */
const NAMES: Readonly<Record<string, string>> = {
  execute: 'shell',
  edit: 'edit',
  delete: 'edit',
  move: 'edit',
  read: 'read',
  search: 'search',
  fetch: 'fetch',
};

/** Merges an update; fields that it leaves out stay. */
export function learn(known: KnownCall | undefined, update: ToolCall | ToolCallUpdate): KnownCall {
  const told = Object.fromEntries(Object.entries(update).filter(([, value]) => value !== undefined && value !== null));
  return { ...known, ...told } as KnownCall;
}

/** The name of the called tool. */
export function toolName({ kind, title, toolCallId }: KnownCall): string {
  return NAMES[kind ?? ''] ?? title ?? toolCallId;
}

/** The tool's input; the command, if only the title contains it. */
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

/** The text content of a call. */
export function textOf(content: readonly ToolCallContent[]): string {
  return content
    .flatMap((part) => (part.type === 'content' && part.content.type === 'text' ? [part.content.text] : []))
    .join('\n');
}
