import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GATE_RUNS, keepRuns } from '../../../src/runtime/hooks/keep-runs.ts';
import type { HookRun } from '../../../src/runtime/hooks/run-hooks.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const result = {
  exitCode: 2,
  stdout: 'one of 3 failed',
  stderr: 'no',
  duration: 12,
  timedOut: false,
  code: 2,
  command: 'npm test',
} as const;
const RUN: HookRun = { teamId: 'demo', type: 'TaskCompleted', taskId: '1', result };

test('what a gate said about a task is kept with its whole output, run after run, for its user alone', () => {
  const { folder, keep, read } = setStage();
  keep(RUN);
  keep({ ...RUN, result: { ...result, exitCode: 0, stdout: 'fine' } });
  const kept = { type: 'gate', event: 'TaskCompleted', command: 'npm test', code: 2, timedOut: false, duration: 12 };
  expect(read('1')).toEqual([
    { ...kept, at: expect.any(Number) as number, exitCode: 2, stdout: 'one of 3 failed', stderr: 'no' },
    { ...kept, at: expect.any(Number) as number, exitCode: 0, stdout: 'fine', stderr: 'no' },
  ]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, '1.jsonl')).mode & 0o777).toBe(0o600);
});

test('a run about several tasks is kept with each; a run about none is not', () => {
  const { folder, keep, read } = setStage();
  const { taskId: _task, ...about } = RUN;
  keep(about);
  keep({ ...RUN, taskIds: ['1', '2'] });
  expect(readdirSync(folder).toSorted()).toEqual(['1.jsonl', '2.jsonl']);
  expect(read('2')).toHaveLength(1);
});

test('a task whose file has 64 MB gets no more', () => {
  const { folder, keep } = setStage();
  keep(RUN);
  const path = join(folder, '1.jsonl');
  const { size } = statSync(path);
  truncateSync(path, 64 * 1024 * 1024 - size);
  keep(RUN);
  expect(statSync(path).size).toBe(64 * 1024 * 1024);
  keep(RUN);
  expect(statSync(path).size).toBe(64 * 1024 * 1024);
});

test('a run that cannot be written is reported, and ends nothing', () => {
  const { transcripts, keep, errors } = setStage();
  mkdirSync(join(transcripts, 'demo'));
  writeFileSync(join(transcripts, 'demo', GATE_RUNS), 'in the way');
  keep(RUN);
  expect(errors).toEqual([[expect.objectContaining({ code: 'EEXIST' }), 'demo']]);
});

function setStage() {
  const transcripts = temporaryFolder();
  const folder = join(transcripts, 'demo', GATE_RUNS);
  const errors: unknown[] = [];
  return {
    transcripts,
    folder,
    errors,
    keep: keepRuns(transcripts, (error, teamId) => errors.push([error, teamId])),
    read: (task: string): unknown[] =>
      readFileSync(join(folder, `${task}.jsonl`), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
  };
}
