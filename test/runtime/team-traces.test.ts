import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Attributes } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import type { TeamEvent } from '../../src/core/event.ts';
import { traceTeams } from '../../src/runtime/team-traces.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('makes spans of the turns and tools in a transcript, with tokens and without content', async () => {
  const folder = temporaryFolder();
  const spans: { name: string; parent: string; attributes: Attributes; failure?: string | undefined }[] = [];
  const traces = traceTeams((name, { parent, attributes }) => {
    const all = { ...attributes };
    return {
      context: { traceId: 't', spanId: name, traceFlags: 1 },
      setAttributes: (more) => Object.assign(all, more) as never,
      end: ({ failure } = {}) => void spans.push({ name, parent: parent?.spanId ?? '', attributes: all, failure }),
    };
  }, folder);
  const at = Date.now() + 1_000;
  const event = (type: string, data: object): TeamEvent => ({ type, at, by: 'ann', ...data }) as unknown as TeamEvent;
  traces.saw('demo', [event('task:claimed', { taskId: '1', memberId: 'ann', epoch: 1 })]);
  mkdirSync(join(folder, 'demo/ann'), { recursive: true });
  const usage = { inputTokens: 30, outputTokens: 4 };
  const lines = [
    { at: 5, type: 'session', sessionId: 's', agent: 'claude' },
    { at: 5, type: 'turn', text: 'before this daemon', messageIds: [] },
    { at: 6, type: 'turnEnd', reason: 'done', text: '' },
    { at, type: 'turn', text: 'canary', taskId: '1', messageIds: [] },
    { at, type: 'tool', id: 'a', name: 'shell', status: 'running', input: 'canary' },
    { at, type: 'tool', id: 'a', name: 'shell', status: 'failed', output: 'canary' },
    { at, type: 'usage', usage, model: 'some-model' },
    { at, type: 'usage', usage },
    { at, type: 'turnEnd', reason: 'failed', text: 'canary' },
  ];
  writeFileSync(join(folder, 'demo/ann/s.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  traces.saw('demo', [event('task:failed', { taskId: '1', memberId: 'ann', reason: 'canary' })]);
  await traces.close();

  expect(spans.map(({ name, parent, failure }) => [name, parent, failure])).toEqual([
    ['task', 'team.run', 'failed'],
    ['execute_tool shell', 'invoke_agent ann', 'failed'],
    ['invoke_agent ann', 'task', 'failed'],
    ['team.run', '', undefined],
  ]);
  expect(spans[2]?.attributes).toMatchObject({
    'gen_ai.provider.name': 'anthropic',
    'gen_ai.conversation.id': 's',
    'gen_ai.response.model': 'some-model',
    'gen_ai.usage.input_tokens': 60,
    'gen_ai.usage.output_tokens': 8,
  });
  expect(JSON.stringify(spans)).not.toContain('canary');
});

test('makes a span of each landing, with its works and its outcome', async () => {
  const spans: { name: string; attributes: Attributes }[] = [];
  const traces = traceTeams((name, { attributes }) => {
    const all = { ...attributes };
    return {
      context: { traceId: 't', spanId: name, traceFlags: 1 },
      setAttributes: (more) => Object.assign(all, more) as never,
      end: () => void spans.push({ name, attributes: all }),
    };
  }, temporaryFolder());
  const event = (type: string, data: object): TeamEvent =>
    ({ type, at: 1, by: '@system', ...data }) as unknown as TeamEvent;
  const works = [{ taskId: '1' }, { taskId: '2' }];
  traces.saw('demo', [event('landing:begun', { landingId: 'a', works })]);
  traces.saw('demo', [event('landing:ended', { landingId: 'a', how: 'split', why: 'red' })]);
  traces.saw('demo', [event('landing:begun', { landingId: 'b', works })]);
  traces.saw('demo', [event('work:landed', { landingId: 'b', taskId: '1' })]);
  traces.saw('demo', [event('work:landed', { landingId: 'b', taskId: '2' })]);
  // It waits for an approval, which may take a day: the landing is over.
  traces.saw('demo', [
    event('landing:begun', { landingId: 'c', works: [{ taskId: '3' }] }),
    event('work:asked', { landingId: 'c', taskId: '3' }),
  ]);
  traces.saw('demo', [event('work:landed', { landingId: 'c', taskId: '3' })]);
  await traces.close();
  expect(spans).toEqual([
    { name: 'landing', attributes: { 'troupe.tasks': ['1', '2'], 'troupe.outcome': 'split' } },
    { name: 'landing', attributes: { 'troupe.tasks': ['1', '2'], 'troupe.outcome': 'landed' } },
    { name: 'landing', attributes: { 'troupe.tasks': ['3'], 'troupe.outcome': 'asked' } },
    { name: 'team.run', attributes: { 'troupe.team': 'demo' } },
  ]);
});
