import { appendFileSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { HookRun } from './run-hooks.ts';

/** The folder beside the members' transcripts with what gates said, a file per task. No member has this name. */
export const GATE_RUNS = '@gates';

/** More about one task is not kept. */
const SIZE_LIMIT = 64 * 1024 * 1024;

/**
 * Writes down every run of a gate about a task, with its whole output; the journal has only the end of what a rejection
 * said. A disk that is full must not end a gate, so a run that cannot be written is only reported.
 */
export function keepRuns(transcripts: string, onError: (error: unknown, teamId: string) => void) {
  return ({ teamId, type, taskId, taskIds, result }: HookRun): void => {
    if (taskId === undefined) return;
    const { stdout, stderr, exitCode, code, timedOut, duration, unable, command } = result;
    const facts = { event: type, command, exitCode, code, timedOut, duration, unable, stderr, stdout };
    const line = `${JSON.stringify({ at: Date.now(), type: 'gate', ...facts })}\n`;
    try {
      const folder = join(transcripts, teamId, GATE_RUNS);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      for (const id of taskIds ?? [taskId]) {
        const path = join(folder, `${id}.jsonl`);
        const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
        if (size + line.length <= SIZE_LIMIT) appendFileSync(path, line, { mode: 0o600 });
      }
    } catch (error) {
      onError(error, teamId);
    }
  };
}
