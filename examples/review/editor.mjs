// Makes one review of the messages that wait for it.
import { writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

const { messages } = JSON.parse(await text(process.stdin));
const findings = messages.map(({ fromId, content }) => `- ${content} (${fromId})`).sort();
writeFileSync('REVIEW.md', `# Review of shop.mjs\n\n${findings.join('\n')}\n`);
console.log(`REVIEW.md with ${findings.length} findings`);
