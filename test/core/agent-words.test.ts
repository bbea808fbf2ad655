import { expect, test } from 'vitest';
import { wordSettings } from '../../src/core/agent-words.ts';

test('the settings of an agent that change what it can do are said in words; a plain agent has none', () => {
  expect(wordSettings({ kind: 'claude', model: 'm', mode: 'edit', sandbox: false })).toEqual([]);
  const words = wordSettings({
    kind: 'claude',
    effort: 'high',
    sandbox: { network: ['github.com'], read: ['~/.rustup'], write: ['~/.cache'] },
    mcp: { docs: { command: ['docs-mcp'] }, api: { url: 'https://a.b' } },
    skills: ['style.md'],
    tools: { allow: ['Read'], deny: ['WebFetch', 'WebSearch'] },
  });
  expect(words).toEqual([
    ['effort', 'high'],
    ['sandbox', 'yes; reaches github.com; reads ~/.rustup; writes ~/.cache'],
    ['servers', 'docs, api'],
    ['skills', 'style.md'],
    ['tools', 'only Read; without WebFetch, WebSearch'],
  ]);
  expect(wordSettings({ kind: 'exec', sandbox: { network: 'none' } })).toEqual([['sandbox', 'yes; no network']]);
});
