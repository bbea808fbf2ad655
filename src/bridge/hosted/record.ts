import { closeSync, existsSync, fstatSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { AgentEvent } from '../../agents/agent.ts';
import { blocksText } from '../../agents/text.ts';
import { Tokens } from '../../agents/tokens.ts';
import { troubleOfStatus } from '../../core/trouble.ts';
import type { Trouble } from '../../core/trouble.ts';

const Block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
  tool_use_id: z.string().optional(),
  is_error: z.boolean().nullish(),
  content: z.unknown().optional(),
});

/** A line of Claude Code's session record; only the fields that we use. */
const Line = z.looseObject({
  type: z.string(),
  subtype: z.string().optional(),
  timestamp: z.string().optional(),
  isSidechain: z.boolean().optional(),
  isMeta: z.boolean().optional(),
  isApiErrorMessage: z.boolean().optional(),
  /** The kind of failure in a word, and the model's HTTP status. Only newer versions write them. */
  error: z.unknown().optional(),
  apiErrorStatus: z.unknown().optional(),
  message: z
    .looseObject({
      id: z.string().optional(),
      model: z.string().optional(),
      usage: Tokens.optional(),
      content: z.union([
        z.string().transform((text): z.output<typeof Block>[] => [{ type: 'text', text }]),
        z.array(Block),
      ]),
    })
    .optional(),
});
/** A fact from the record, with the line's own time. */
export type Told = { readonly at: number } & (
  | { readonly type: 'prompt'; readonly text: string }
  | { readonly type: 'interrupted' }
  /** One message of the model may span several lines. */
  | {
      readonly type: 'answer';
      readonly id: string;
      readonly text: string;
      readonly failed: boolean;
      readonly trouble: Trouble | undefined;
      readonly model: string | undefined;
      readonly tokens: Tokens | undefined;
    }
  | { readonly type: 'tool'; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly type: 'result'; readonly id: string; readonly failed: boolean; readonly content: unknown }
  | { readonly type: 'over' }
  | { readonly type: 'compacted' }
);

/** Claude Code writes this in place of a prompt when somebody pressed Escape. */
const INTERRUPTED = /^\[Request interrupted by user/;

/** Claude Code's names for errors of the account. A limit has no reset time here, so it is waited out like an overload. */
const ERRORS: Readonly<Record<string, Trouble>> = { rate_limit: 'overloaded', authentication_failed: 'unauthorised' };

/** Subtypes that end a turn; each version writes at least one of them. */
const OVER = ['turn_duration', 'stop_hook_summary'];

/** Bytes per read; a record that grows faster takes several reads. */
const CHUNK = 4 * 1024 * 1024;

/** Claude Code's record of a session, read as it grows. */
export interface SessionRecord {
  /** The facts since the last read. */
  read(): Told[];
}

/**
 * The path of a session's record, if any. Its folder is named after the working folder, in a way that changed over
 * time.
 */
export function findRecord(root: string, sessionId: string): string | undefined {
  const projects = join(root, 'projects');
  try {
    return readdirSync(projects)
      .map((folder) => join(projects, folder, `${sessionId}.jsonl`))
      .find((path) => existsSync(path));
  } catch {
    return undefined;
  }
}

/** Whether a record has a conversation to resume. A session that ended at its start has only settings. */
export function hasConversation(path: string): boolean {
  return /"type":\s*"(?:user|assistant)"/.test(readFileSync(path, 'utf8'));
}

/** Follows the record of a session from its current end. */
export function followRecord(root: string, sessionId: string): SessionRecord {
  let path = findRecord(root, sessionId);
  let at = path === undefined ? 0 : sizeOf(path);
  let rest = Buffer.alloc(0);
  return {
    read() {
      path ??= findRecord(root, sessionId);
      if (path === undefined) return [];
      const added = readFrom(path, at);
      if (added.length === 0) return [];
      at += added.length;
      const bytes = Buffer.concat([rest, added]);
      const end = bytes.lastIndexOf(0x0a) + 1;
      rest = bytes.subarray(end);
      return bytes.subarray(0, end).toString('utf8').split('\n').flatMap(toldIn);
    },
  };
}

function toldIn(text: string): Told[] {
  // Most lines of newer versions are about requests and settings, and long.
  if (!/"type":\s*"(?:user|assistant|system)"/.test(text)) return [];
  const line = parseLine(text);
  if (!line || line.isSidechain) return [];
  const at = Date.parse(line.timestamp ?? '');
  if (Number.isNaN(at)) return [];
  if (line.type === 'system') {
    if (OVER.includes(line.subtype ?? '')) return [{ at, type: 'over' }];
    return line.subtype === 'compact_boundary' ? [{ at, type: 'compacted' }] : [];
  }
  if (!line.message) return [];
  const { id = '', model, usage, content } = line.message;
  const said = content.flatMap(({ type, text: words }) => (type === 'text' && words ? [words] : [])).join('\n');
  if (line.type === 'assistant') {
    const failed = line.isApiErrorMessage === true;
    const calls = content.flatMap((block): Told[] =>
      block.type === 'tool_use' && block.id !== undefined
        ? [{ at, type: 'tool', id: block.id, name: block.name ?? 'tool', input: block.input }]
        : [],
    );
    const trouble = failed ? (ERRORS[String(line.error)] ?? troubleOfStatus(line.apiErrorStatus)) : undefined;
    const tokens = failed ? undefined : usage;
    return [{ at, type: 'answer', id, text: said, failed, trouble, model, tokens }, ...calls];
  }
  if (line.type !== 'user' || line.isMeta) return [];
  const results = content.flatMap((block): Told[] =>
    block.type === 'tool_result' && block.tool_use_id !== undefined
      ? [{ at, type: 'result', id: block.tool_use_id, failed: block.is_error === true, content: block.content }]
      : [],
  );
  if (said === '') return results;
  return [...results, INTERRUPTED.test(said) ? { at, type: 'interrupted' } : { at, type: 'prompt', text: said }];
}

function parseLine(text: string): z.output<typeof Line> | undefined {
  try {
    return Line.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function sizeOf(path: string): number {
  const file = openSync(path, 'r');
  try {
    return fstatSync(file).size;
  } finally {
    closeSync(file);
  }
}

function readFrom(path: string, at: number): Buffer {
  try {
    const file = openSync(path, 'r');
    try {
      const size = Math.min(fstatSync(file).size - at, CHUNK);
      if (size <= 0) return Buffer.alloc(0);
      const bytes = Buffer.alloc(size);
      return bytes.subarray(0, readSync(file, bytes, 0, size, at));
    } finally {
      closeSync(file);
    }
  } catch {
    return Buffer.alloc(0);
  }
}

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
