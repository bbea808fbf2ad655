import { describe, expect, test } from 'vitest';
import { planOf, taskUpdate } from '../../src/cli/commands/acp/narrator.ts';
import { promptText } from '../../src/cli/commands/acp/prompt.ts';
import { titleOf, toolUpdate } from '../../src/cli/commands/acp/tool-calls.ts';

describe('the text of a prompt', () => {
  test('has the paths and texts of files', () => {
    const text = promptText([
      { type: 'text', text: 'Look at' },
      { type: 'resource_link', uri: 'file:///work/a%20b.ts', name: 'a b.ts' },
      { type: 'resource', resource: { uri: 'file:///work/notes.md', text: 'Use ```ts fences' } },
    ]);
    expect(text).toBe('Look at /work/a b.ts \n\n/work/notes.md:\n````\nUse ```ts fences\n````');
  });

  test.each([
    [{ type: 'image', data: '', mimeType: 'image/png' } as const, 'cannot pass an image on'],
    [{ type: 'audio', data: '', mimeType: 'audio/wav' } as const, 'cannot pass an audio on'],
    [{ type: 'resource', resource: { uri: 'file:///x.bin', blob: 'AA' } } as const, 'it is binary'],
    [{ type: 'text', text: ' \n' } as const, 'empty'],
  ])('refuses what no member can read: %j', (block, why) => {
    expect(() => promptText([block])).toThrow(why);
  });
});

describe('a tool that a member uses', () => {
  const call = (name: string, input: unknown, more: object = {}) =>
    toolUpdate('ann', 'id', { at: 0, type: 'tool', name, status: 'done', input, ...more });

  test('names the member, and what it is used on', () => {
    expect(call('shell', { command: 'npm\n  test' }, { output: 'green' })).toMatchObject({
      title: 'ann: shell npm test',
      kind: 'execute',
      status: 'completed',
      content: [{ content: { text: 'green' } }],
    });
    expect(call('mcp__notes', 'text', { status: 'failed' })).toMatchObject({ kind: 'other', status: 'failed' });
    expect(titleOf('ann', 'x'.repeat(500))).toHaveLength(160);
  });

  test('shows changes of files as diffs', () => {
    const edit = { file_path: '/work/a.ts', old_string: 'one', new_string: 'two' };
    expect(call('Edit', edit)).toMatchObject({
      kind: 'edit',
      locations: [{ path: '/work/a.ts' }],
      content: [{ type: 'diff', path: '/work/a.ts', oldText: 'one', newText: 'two' }],
    });
    expect(call('Write', { file_path: '/work/b.ts', content: 'new' }).content).toEqual([
      { type: 'diff', path: '/work/b.ts', oldText: null, newText: 'new' },
    ]);
    expect(call('edit', { changes: [{ path: '/c', oldText: 'x', newText: 'y' }] }).content).toHaveLength(1);
    const edits = [{ old_string: 'a', new_string: 'b' }, { old_string: 'c' }];
    expect(call('MultiEdit', { file_path: '/d', edits }).content).toHaveLength(1);
  });
});

describe('tasks', () => {
  const task = { id: '3', title: 'Parser', status: 'pending', priority: 'critical', epoch: 2 } as const;

  test('are the entries of a plan', () => {
    const tasks = [
      task,
      { ...task, status: 'blocked', priority: 'low' },
      { ...task, status: 'in_progress', assigneeId: 'ann' },
      { ...task, status: 'failed' },
      { ...task, status: 'deleted' },
    ];
    expect(planOf(tasks as unknown as Parameters<typeof planOf>[0])).toEqual([
      { content: '#3 Parser', priority: 'high', status: 'pending' },
      { content: '#3 Parser', priority: 'low', status: 'pending' },
      { content: '#3 Parser (ann)', priority: 'high', status: 'in_progress' },
      { content: '#3 Parser: failed', priority: 'high', status: 'completed' },
    ]);
    const many = Array.from({ length: 900 }, (_, i) => ({ ...task, status: i < 600 ? 'completed' : 'pending' }));
    expect(planOf(many as unknown as Parameters<typeof planOf>[0])).toHaveLength(200);
  });

  test('are tool calls of their holder while it works, and end with it', () => {
    expect(taskUpdate(task)).toBeUndefined();
    expect(taskUpdate({ ...task, status: 'in_progress', assigneeId: 'ann' })).toMatchObject({
      toolCallId: 'task-3-2',
      title: 'ann: #3 Parser',
      status: 'in_progress',
    });
    expect(taskUpdate({ ...task, status: 'completed', result: 'done' }, 'task-3-1')).toMatchObject({
      toolCallId: 'task-3-1',
      status: 'completed',
      content: [{ content: { text: 'done' } }],
    });
    expect(taskUpdate(task, 'task-3-1')).toMatchObject({ toolCallId: 'task-3-1', status: 'failed' });
  });
});
