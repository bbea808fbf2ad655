import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const MINUTE_MS = 60_000;

/**
 * Waits until a session of Gemini CLI can be loaded. Its history is in a file named by the minute and the beginning of
 * its id. Loading creates that name again, and in the same minute it truncates the file. Measured with 0.61.0: "No
 * previous sessions found", and the conversation is lost.
 */
export async function waitForHistory(sessionId: string, env: Readonly<Record<string, string>>): Promise<void> {
  const folder = join(env['GEMINI_CLI_HOME'] ?? env['HOME'] ?? '', '.gemini', 'tmp');
  removeEmptyHistory(folder, sessionId);
  for (let now = new Date(); holds(folder, fileName(sessionId, now)); now = new Date()) {
    await sleep(MINUTE_MS - (now.getTime() % MINUTE_MS));
  }
}

/** The name that a session's history file gets at this time. */
function fileName(sessionId: string, now: Date): string {
  return `session-${now.toISOString().slice(0, 16).replaceAll(':', '-')}-${sessionId.slice(0, 8)}.jsonl`;
}

/**
 * A loaded session goes on in its old file and leaves a second, empty one with the same id. At the next start Gemini
 * CLI removes empty histories, and with them every file of that id. So a session could be resumed only once (measured
 * with 0.61.0). We remove the empty ones first.
 */
function removeEmptyHistory(folder: string, sessionId: string): void {
  for (const project of filesOf(folder)) {
    const chats = join(folder, project, 'chats');
    const histories = filesOf(chats)
      .filter((name) => name.endsWith(`-${sessionId.slice(0, 8)}.jsonl`))
      .map((name) => join(chats, name));
    const hasAnswer = (path: string): boolean => textOf(path).includes('"type":"gemini"');
    if (!histories.some(hasAnswer)) continue;
    for (const path of histories) if (!hasAnswer(path)) rmSync(path, { force: true });
  }
}

function holds(folder: string, name: string): boolean {
  return filesOf(folder).some((project) => filesOf(join(folder, project, 'chats')).includes(name));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
