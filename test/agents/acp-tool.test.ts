import { expect, test } from 'vitest';
import { askedInput } from '../../src/agents/acp/tool.ts';

const diff = { type: 'diff', path: '/etc/hosts', oldText: 'a', newText: 'line\n"two"' } as const;

test('a person is asked about the path and the text of a change that an agent describes only as a diff', () => {
  expect(askedInput({ toolCallId: '1', kind: 'edit', title: 'Tidy up', content: [diff] })).toEqual({
    paths: ['/etc/hosts'],
    title: 'Tidy up',
    changes: [{ path: '/etc/hosts', oldText: 'a', newText: 'line\n"two"' }],
  });
  const rawInput = { file_path: '/etc/hosts', content: 'line\n"two"' };
  expect(askedInput({ toolCallId: '1', kind: 'edit', rawInput, content: [diff] })).toEqual(rawInput);
  expect(askedInput({ toolCallId: '1', kind: 'execute', title: 'ls' })).toEqual({ command: 'ls' });
});
