import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../../src/client/home.ts';

/** What the end of a long turn says. */
export const END = 'AssertionError: expected 41 to be 42';

const LINES = 4_500;

/** A transcript of two sessions with 20 MB, one turn of 5 MB among them, edits, and a failure at its end. */
export function writeLongTranscript(home: Home, team: string, memberId: string, since = Date.now() - 3_600_000): void {
  const folder = join(home.transcripts, team, memberId);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const at = (i: number): number => since + i * 500;
  const said = (i: number): object => ({
    at: at(i),
    type: 'tool',
    id: `t${i}`,
    name: 'Bash',
    status: 'done',
    input: { command: `step ${i}` },
    output: `ran step ${i}\n${'x'.repeat(3_300)}`,
  });
  write(join(folder, 'first.jsonl'), at(1), [
    { at: at(0), type: 'session', sessionId: 'first', agent: 'claude' },
    { at: at(1), type: 'text', text: 'The very first words' },
  ]);
  write(join(folder, 'second.jsonl'), Date.now(), [
    { at: at(2), type: 'session', sessionId: 'second', agent: 'claude' },
    { at: at(3), type: 'turn', text: 'Look at everything', taskId: '1', messageIds: [] },
    ...Array.from({ length: LINES }, (_, i) => said(i + 4)),
    { at: at(LINES + 4), type: 'turn', text: `Read this: ${'word '.repeat(1_000_000)} ${END}`, messageIds: [] },
    {
      at: at(LINES + 5),
      type: 'tool',
      id: 'edit',
      name: 'Edit',
      status: 'done',
      input: {
        file_path: 'src/parse.ts',
        old_string: 'const a = 1;\nreturn 41;',
        new_string: 'const a = 1;\nreturn 42;',
      },
      output: 'done',
    },
    { at: at(LINES + 6), type: 'turnEnd', reason: 'failed', text: '', error: END },
  ]);
}

/** A transcript with these entries. */
export function writeTranscript(home: Home, team: string, memberId: string, entries: readonly object[]): void {
  const folder = join(home.transcripts, team, memberId);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  write(join(folder, 's1.jsonl'), Date.now(), entries);
}

function write(path: string, at: number, entries: readonly object[]): void {
  writeFileSync(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''), { mode: 0o600 });
  utimesSync(path, at / 1_000, at / 1_000);
}
