import type { ToolCall, ToolCallContent, ToolCallUpdate } from '@agentclientprotocol/sdk/unstable';
import type { AgentEvent } from '../agent.ts';
import { keepOutput } from '../text.ts';

/** Everything known about a tool call so far. */
export type KnownCall = Partial<ToolCall> & { readonly toolCallId: string };

type ToolEvent = Extract<AgentEvent, { type: 'tool' }>;

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
function toolInput({ kind, title, rawInput, locations }: KnownCall): unknown {
  if (rawInput !== undefined && JSON.stringify(rawInput) !== '{}') return rawInput;
  if (kind === 'execute') return { command: title };
  return locations && locations.length > 0 ? { paths: locations.map(({ path }) => path), title } : { title };
}

/**
 * The input that people see and are asked about. Some agents describe a change only as a diff: its path and its text
 * belong to it, whatever the title says.
 */
export function askedInput(call: KnownCall): unknown {
  const input = toolInput(call);
  const diffs = (call.content ?? []).flatMap((part) => (part.type === 'diff' ? [part] : []));
  const given = JSON.stringify(input) ?? '';
  // A text inside JSON is escaped.
  const unknown = diffs.filter(
    ({ path, newText }) => ![path, newText].every((text) => given.includes(JSON.stringify(text).slice(1, -1))),
  );
  if (unknown.length === 0) return input;
  const rest = typeof input === 'object' && input !== null ? input : { input };
  const changes = unknown.map(({ path, oldText, newText }) => ({ path, ...(oldText && { oldText }), newText }));
  return { paths: [...new Set(diffs.map(({ path }) => path))], ...rest, changes };
}

/** A call as an event. */
export function toolEvent(call: KnownCall): ToolEvent {
  const status = call.status === 'completed' ? 'done' : call.status === 'failed' ? 'failed' : 'running';
  const output = status === 'running' ? '' : keepOutput(textOf(call.content ?? []));
  const event = { type: 'tool', id: call.toolCallId, name: toolName(call), status, input: askedInput(call) } as const;
  return output === '' ? event : { ...event, output };
}

/** The text content of a call. */
export function textOf(content: readonly ToolCallContent[]): string {
  return content
    .flatMap((part) => (part.type === 'content' && part.content.type === 'text' ? [part.content.text] : []))
    .join('\n');
}
