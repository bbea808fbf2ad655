import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../../src/client/home.ts';

const MINUTE = 60_000;

/** What ada did lately. */
export function writeTranscript(home: Home, team: string, start: number): void {
  const folder = join(home.transcripts, team, 'ada');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const at = (minute: number): number => start + minute * MINUTE;
  const entries = [
    { at: at(42), type: 'session', sessionId: '7f3c9d1e', agent: 'claude' },
    {
      at: at(42),
      type: 'turn',
      text: 'Task 13: Contract suite for three stores\n\nOne suite that every store passes: memory, SQLite, NATS.',
      taskId: '13',
      messageIds: [],
    },
    {
      at: at(43),
      type: 'text',
      text: 'I start with what the **port** promises, then write one case per promise.\n\n- append with the expected sequence\n- read from any sequence\n- follow without gap or repeat',
    },
    {
      at: at(44),
      type: 'tool',
      id: 't1',
      name: 'Read',
      status: 'running',
      input: { file_path: 'src/journal/journal.ts' },
    },
    {
      at: at(44),
      type: 'tool',
      id: 't1',
      name: 'Read',
      status: 'done',
      output:
        'export interface Journal {\n  append(team, expected, events): Promise<void>\n  read(team, after): AsyncIterable<Stored>\n}',
    },
    {
      at: at(46),
      type: 'tool',
      id: 't2',
      name: 'Write',
      status: 'done',
      input: { file_path: 'test/contracts/journal.ts', content: 'describeJournal(…)' },
      output: '212 lines',
    },
    {
      at: at(48),
      type: 'tool',
      id: 't3',
      name: 'Bash',
      status: 'failed',
      input: { command: 'npx vitest run test/contracts' },
      output: 'FAIL  memory > follow > tells a batch once\nexpected 1, received 2',
    },
    {
      at: at(49),
      type: 'text',
      text: 'The memory store tells a batch twice when two follow at once: the bell rings before the list is copied. Fixing the order.',
    },
    {
      at: at(50),
      type: 'tool',
      id: 't4',
      name: 'Edit',
      status: 'done',
      input: { file_path: 'src/journal/memory.ts' },
      output: '1 change',
    },
    {
      at: at(52),
      type: 'tool',
      id: 't5',
      name: 'Bash',
      status: 'done',
      input: { command: 'npx vitest run test/contracts' },
      output: '38 passed',
    },
    {
      at: at(55),
      type: 'turnEnd',
      reason: 'done',
      text: 'The suite has 38 cases; memory and SQLite pass all of them.',
    },
    { at: at(55), type: 'usage', usage: {}, context: { used: 126_000, size: 200_000 } },
    { at: at(56), type: 'rejected', taskId: '13', feedback: 'npm test: 1 failed' },
    {
      at: at(56),
      type: 'turn',
      text: 'A gate sent the work back:\nnpm test: 1 failed\nContract suite for three stores',
      taskId: '13',
      messageIds: [],
    },
    {
      at: at(57),
      type: 'text',
      text: 'The third store was skipped, not passed. It needs a server; I start one for the run.',
    },
    {
      at: at(70),
      type: 'tool',
      id: 't6',
      name: 'Bash',
      status: 'running',
      input: { command: 'nats-server -js -sd "$TMPDIR/js" & npx vitest run test/contracts' },
    },
  ];
  writeFileSync(join(folder, '7f3c9d1e.jsonl'), entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''), {
    mode: 0o600,
  });
}
