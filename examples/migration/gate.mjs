// The gate: every file of the task's folder must load, and none may have `var`.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

const { task_subject: title } = JSON.parse(await text(process.stdin));
const folder = title.split(' ').at(-1);
for (const name of readdirSync(folder)) {
  const file = join(folder, name);
  const { next } = await import(pathToFileURL(resolve(file)).href);
  const isDone = !/^var /m.test(readFileSync(file, 'utf8')) && next().endsWith('1');
  if (isDone) continue;
  console.error(`${file} still has var, or does not work`);
  process.exit(2);
}
