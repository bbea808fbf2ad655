import type { ContentBlock } from '@agentclientprotocol/sdk';
import { invalid } from './errors.ts';

/** The text of a prompt. Files are named or included; members get text only. */
export function promptText(blocks: readonly ContentBlock[]): string {
  const text = blocks.map(blockText).join('').trim();
  if (text === '') throw invalid('The prompt is empty: write what the team should do');
  return text;
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link':
      return ` ${nameOf(block.uri)} `;
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return `\n\n${nameOf(resource.uri)}:\n${fenced(resource.text)}\n`;
      throw invalid(`Troupe cannot pass ${resource.uri} on to a team: it is binary. Name its path instead`);
    }
    default:
      throw invalid(`Troupe cannot pass an ${block.type} on to a team: save it as a file and name its path`);
  }
}

/** A path if it is a file, which members can open. */
function nameOf(uri: string): string {
  if (!uri.startsWith('file://')) return uri;
  try {
    return decodeURIComponent(new URL(uri).pathname);
  } catch {
    return uri;
  }
}

/** A fence that the text itself does not contain. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
