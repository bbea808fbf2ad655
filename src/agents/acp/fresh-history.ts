import { readdirSync } from 'node:fs';
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
  for (let now = new Date(); holds(folder, fileName(sessionId, now)); now = new Date()) {
    await sleep(MINUTE_MS - (now.getTime() % MINUTE_MS));
  }
}

/** The name that a session's history gets at this moment. */
export function fileName(sessionId: string, now: Date): string {
  return `session-${now.toISOString().slice(0, 16).replaceAll(':', '-')}-${sessionId.slice(0, 8)}.jsonl`;
}

function holds(folder: string, name: string): boolean {
  try {
    return readdirSync(folder).some((project) => filesOf(join(folder, project, 'chats')).includes(name));
  } catch {
    return false;
  }
}

function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
