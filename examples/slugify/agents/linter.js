import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTurn, repo } from './turn.js';

await readTurn();
const problems = [];
const files = ['src', 'test'].flatMap((folder) => readdirSync(join(repo, folder)).map((name) => join(folder, name)));
for (const file of files) {
  const text = readFileSync(join(repo, file), 'utf8');
  if (!text.endsWith('\n')) problems.push(`${file} does not end with a newline`);
  text.split('\n').forEach((line, i) => {
    if (/\s$/.test(line)) problems.push(`${file}:${i + 1} ends with a space`);
    if (line.length > 100) problems.push(`${file}:${i + 1} is longer than 100 characters`);
  });
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`${files.length} files, no problem`);
