import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fillIn, readTurn } from './turn.js';

await readTurn();
const problems = [];
const files = ['src', 'test'].flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
for (const file of files) {
  const text = readFileSync(file, 'utf8');
  if (!text.endsWith('\n')) problems.push(`${file} does not end with a newline`);
  text.split('\n').forEach((line, i) => {
    if (/\s$/.test(line)) problems.push(`${file}:${i + 1} ends with a space`);
    if (line.length > 100) problems.push(`${file}:${i + 1} is longer than 100 characters`);
  });
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
const found = `${files.length} files, no problem`;
fillIn('Style', found);
console.log(found);
