import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const MINUTE_MS = 60_000;

/**
 * Waits until a session of Gemini CLI can be loaded. Its history is in a file named by the minute and the beginning of its
 * id; loading makes that name again, and in the same minute begins the file anew. Measured with 0.61.0: "No previous
 * sessions found", and the conversation is lost.
 */
export async function waitForHistory(sessionId: string, env: Readonly<Record<string, string>>): Promise<void> {
  const folder = join(env['GEMINI_CLI_HOME'] ?? env['HOME'] ?? '', '.gemini', 'tmp');
  removeEmptyHistory(folder, sessionId);
  for (let now = new Date(); holds(folder, fileName(sessionId, now)); now = new Date()) {
    await sleep(MINUTE_MS - (now.getTime() % MINUTE_MS));
  }
}

/** The name that a session's history gets at this moment. */
export function fileName(sessionId: string, now: Date): string {
  return `session-${now.toISOString().slice(0, 16).replaceAll(':', '-')}-${sessionId.slice(0, 8)}.jsonl`;
}

/**
 * A session that is loaded goes on in its old file, and leaves another one under the same id in which nothing was said. With the next start
 * Gemini CLI removes what is empty, and with it every file of that id: a session could be resumed once, and never again (measured with
 * 0.61.0). So the empty ones go first.
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
