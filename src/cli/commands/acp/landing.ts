import { join } from 'node:path';
import type { SessionUpdate, ToolCallContent } from '@agentclientprotocol/sdk';
import type { Client } from '../../../client/client.ts';
import { shortId } from '../../../core/commit-id.ts';
import { textContent, titleOf } from './tool-calls.ts';

/** More would fill a panel; `troupe diff` shows all. */
const MOST_FILES = 20;
const MOST_HUNKS = 60;

/** Work that landed on the team's branch. */
export interface Landed {
  readonly teamId: string;
  readonly taskId: string;
  readonly title: string;
  /** Who did it. */
  readonly memberId: string;
  /** The branch moved from one commit to the other. */
  readonly onto: string;
  readonly merged: string;
  /** The checkout; paths of diffs are in it, whether the branch is merged there or not. */
  readonly repository: string;
}

/** What landed, with its changes: a diff for each place that changed. */
export async function landedUpdate(client: Client, landed: Landed): Promise<SessionUpdate> {
  const { teamId, taskId, memberId, title, merged } = landed;
  const { content, rest } = await diffsOf(client, landed).catch(() => ({ content: [], rest: 0 }));
  const more = rest > 0 ? `${rest} more: troupe diff ${taskId} --team ${teamId}` : undefined;
  return {
    sessionUpdate: 'tool_call',
    toolCallId: `landed-${taskId}-${shortId(merged)}`,
    title: titleOf(memberId, `landed #${taskId} ${title} as ${shortId(merged)}`),
    kind: 'edit',
    status: 'completed',
    content: [...content, ...textContent(more)],
    locations: [...new Set(content.flatMap((one) => (one.type === 'diff' ? one.path : [])))].map((path) => ({ path })),
  };
}

/** `rest` counts the files that are not shown. */
async function diffsOf(
  client: Client,
  { teamId, onto: from, merged: to, repository }: Landed,
): Promise<{ content: ToolCallContent[]; rest: number }> {
  const { changes, files } = await client.call('work.files', { teamId, from, to });
  const content: ToolCallContent[] = [];
  let shown = 0;
  for (const { path, previous, folded } of changes.slice(0, MOST_FILES)) {
    if (content.length >= MOST_HUNKS) break;
    shown++;
    const where = join(repository, path);
    const named = previous === undefined ? { path } : { path, previous };
    const { hunks } = folded ? { hunks: [] } : await client.call('work.lines', { teamId, from, to, ...named });
    if (hunks.length === 0) content.push(...textContent(`${path}: ${folded ?? 'no lines differ'}`));
    for (const { lines } of hunks.slice(0, MOST_HUNKS - content.length)) {
      content.push({ type: 'diff', path: where, oldText: side(lines, '-'), newText: side(lines, '+') ?? '' });
    }
  }
  return { content, rest: files - shown };
}

/** The lines of one side; null if it has none, as of a new file. */
function side(lines: readonly string[], sign: '+' | '-'): string | null {
  const own = lines.filter((line) => line.startsWith(' ') || line.startsWith(sign)).map((line) => line.slice(1));
  return own.length === 0 ? null : `${own.join('\n')}\n`;
}
