import { closeSync, existsSync, fdatasyncSync, fstatSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AgentEvent, Turn } from '../agents/agent.ts';

/** One line of a transcript. */
export type TranscriptEntry =
  | { readonly at: number; readonly type: 'session'; readonly sessionId: string; readonly agent: string }
  | {
      readonly at: number;
      readonly type: 'turn';
      readonly text: string;
      readonly taskId?: string | undefined;
      readonly messageIds: readonly string[];
    }
  | ({ readonly at: number } & Exclude<AgentEvent, { type: 'permission' | 'spending' | 'alive' }>)
  | { readonly at: number; readonly type: 'permission'; readonly tool: string; readonly description: string }
  /** A gate did not let the task complete. */
  | { readonly at: number; readonly type: 'rejected'; readonly taskId: string; readonly feedback: string }
  /** The file has reached its size limit; after it come only proofs of what was shown, and ends of turns. */
  | { readonly at: number; readonly type: 'full' };

/** What a member did and was told, as lines of JSON; also the proof of what it was shown. */
export interface Transcript {
  write(entry: TranscriptEntry): void;
  turn(turn: Turn): void;
  close(): void;
}

/** A session this large has gone wrong; later entries are not kept, and the transcript says so. */
const SIZE_LIMIT = 64 * 1024 * 1024;

/** Opens a transcript for appending; only the owner can read it and its folder. */
export function openTranscript(path: string, now: () => number = Date.now): Transcript {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = openSync(path, 'a', 0o600);
  let { size } = fstatSync(file);
  let isFull = false;
  const write = (entry: TranscriptEntry): void => {
    const line = `${JSON.stringify(entry)}\n`;
    if (size + line.length > SIZE_LIMIT && entry.type !== 'shown' && entry.type !== 'turnEnd') {
      if (!isFull) writeSync(file, `${JSON.stringify({ at: now(), type: 'full' })}\n`);
      isFull = true;
      return;
    }
    size += line.length;
    writeSync(file, line);
    // After a crash this line decides whether a message is shown again.
    if (entry.type === 'shown') fdatasyncSync(file);
  };
  return {
    write,
    turn: ({ text, task, messages }) =>
      write({ at: now(), type: 'turn', text, taskId: task?.id, messageIds: messages.map(({ id }) => id) }),
    close: () => closeSync(file),
  };
}

/** Ids of messages that an agent has, according to a session's transcript; none if there is no transcript. */
export function shownMessages(path: string): Set<string> {
  const ids = new Set<string>();
  if (!existsSync(path)) return ids;
  for (const entry of readEntries(path)) {
    if (entry.type === 'shown') for (const id of entry.messageIds) ids.add(id);
  }
  return ids;
}

/**
 * Whether an agent was told a text in a turn that it finished, according to a session's transcript. A process may end
 * between the start of its session and the end of that turn.
 */
export function hasHeard(path: string, text: string): boolean {
  if (!existsSync(path)) return false;
  let isTold = false;
  for (const entry of readEntries(path)) {
    if (entry.type === 'turn') isTold ||= entry.text.includes(text);
    if (entry.type !== 'turnEnd') continue;
    if (isTold && entry.reason === 'done') return true;
    isTold = false;
  }
  return false;
}

/** The entries of a transcript, without a last line that a crash cut off. */
function readEntries(path: string): TranscriptEntry[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return line ? [JSON.parse(line) as TranscriptEntry] : [];
      } catch {
        return [];
      }
    });
}
