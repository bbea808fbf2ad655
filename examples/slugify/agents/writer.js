import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { git, readTurn, repo } from './turn.js';

const { messages } = await readTurn();
const code = readFileSync(join(repo, 'src', 'slugify.js'), 'utf8');
const log = git('log', '--reverse', '--format=- %s');
const mail = messages.map((message) => `- ${message.fromId}: ${message.content}`).join('\n');
writeFileSync(
  join(repo, 'REPORT.md'),
  `# slugify\n\n## What was done\n\n${log}\n\n## What the team said\n\n${mail || '- nothing'}\n\n## The code\n\n\`\`\`js\n${code}\`\`\`\n`,
);
git('add', '.');
git('commit', '--quiet', '--message', 'docs: report');
console.log(`REPORT.md; ${messages.length} message${messages.length === 1 ? '' : 's'} read`);
