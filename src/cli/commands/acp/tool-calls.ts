import { isAbsolute } from 'node:path';
import type { SessionUpdate, ToolCallContent, ToolKind } from '@agentclientprotocol/sdk';
import type { Entry } from '../../show/transcript-lines.ts';

/** The kinds of tools, by the names that agents give them. */
const KINDS: Readonly<Record<string, ToolKind>> = {
  shell: 'execute',
  bash: 'execute',
  edit: 'edit',
  multiedit: 'edit',
  notebookedit: 'edit',
  write: 'edit',
  read: 'read',
  glob: 'search',
  grep: 'search',
  search: 'search',
  websearch: 'search',
  fetch: 'fetch',
  webfetch: 'fetch',
};

/** How long a title may be, in characters: one line of a panel. */
const TITLE = 160;

/** A title in one line. */
export function titleOf(who: string, what: string): string {
  const line = `${who}: ${what}`.replaceAll(/\s+/g, ' ').trim();
  return line.length <= TITLE ? line : `${line.slice(0, TITLE - 1)}…`;
}

/** A text as content of a tool call; none if it is empty. */
export function textContent(text: string | undefined): ToolCallContent[] {
  return text ? [{ type: 'content', content: { type: 'text', text } }] : [];
}

/** A tool that a member uses, as its transcript records it. The id is unique in the session. */
export function toolUpdate(
  memberId: string,
  toolCallId: string,
  entry: Entry,
): SessionUpdate & { sessionUpdate: 'tool_call' } {
  const { name, status, input, output } = entry as Entry & { name?: unknown; status?: unknown; output?: unknown };
  const tool = String(name);
  const fields = fieldsOf(input);
  return {
    sessionUpdate: 'tool_call',
    toolCallId,
    title: titleOf(memberId, `${tool} ${subjectOf(fields)}`),
    kind: KINDS[tool.toLowerCase()] ?? 'other',
    status: status === 'done' ? 'completed' : status === 'failed' ? 'failed' : 'in_progress',
    content: [...diffsIn(fields), ...textContent(typeof output === 'string' ? output : undefined)],
    locations: pathsIn(fields).map((path) => ({ path })),
    ...(input !== undefined && { rawInput: input }),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(input: unknown): Fields {
  return typeof input === 'object' && input !== null ? (input as Fields) : {};
}

/** What the tool is used on: a command, a path, a search. */
function subjectOf(fields: Fields): string {
  for (const key of ['command', 'file_path', 'path', 'pattern', 'query', 'url', 'title', 'description']) {
    const value = fields[key];
    if (typeof value === 'string') return value;
    if (Array.isArray(value)) return value.join(' ');
  }
  return '';
}

function pathsIn(fields: Fields): string[] {
  const paths = Array.isArray(fields['paths']) ? (fields['paths'] as unknown[]) : [];
  return [fields['file_path'], fields['path'], ...paths].filter(
    (path): path is string => typeof path === 'string' && isAbsolute(path),
  );
}

/** Changes of files, in the words of Claude Code and of agents that speak ACP. */
function diffsIn(fields: Fields): ToolCallContent[] {
  const { file_path: path, old_string: oldText, new_string: newText, content, changes, edits } = fields;
  if (typeof path === 'string') {
    if (typeof newText === 'string') return [diff(path, oldText, newText)];
    if (typeof content === 'string') return [diff(path, undefined, content)];
    const each = Array.isArray(edits) ? edits.map(fieldsOf) : [];
    return each.flatMap((edit) =>
      typeof edit['new_string'] === 'string' ? [diff(path, edit['old_string'], edit['new_string'])] : [],
    );
  }
  const listed = Array.isArray(changes) ? changes.map(fieldsOf) : [];
  return listed.flatMap((change) =>
    typeof change['path'] === 'string' && typeof change['newText'] === 'string'
      ? [diff(change['path'], change['oldText'], change['newText'])]
      : [],
  );
}

function diff(path: string, oldText: unknown, newText: string): ToolCallContent {
  return { type: 'diff', path, oldText: typeof oldText === 'string' ? oldText : null, newText };
}
