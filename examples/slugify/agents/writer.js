import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readTurn, write } from './turn.js';

const { messages } = await readTurn();
const code = readFileSync('src/slugify.js', 'utf8');
const mail = messages.map((message) => `- ${message.fromId}: ${message.content}`).join('\n');
write(
  'REPORT.md',
  `# slugify\n\n## What landed\n\n${landed()}\n\n## What the team said\n\n${mail || '- nothing'}\n\n## The code\n\n\`\`\`js\n${code}\`\`\`\n`,
);
console.log(`REPORT.md; ${messages.length} message${messages.length === 1 ? '' : 's'} read`);

/** The commits on the team's branch, from the copy's own git. Without git, members share a folder. */
function landed() {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'];
    return execFileSync('git', ['log', '--reverse', '--grep=^Task-Id:', '--format=- %s'], {
      encoding: 'utf8',
      stdio,
    }).trim();
  } catch {
    return '- all of it, without git';
  }
}
