// The gate: every exported function is documented, and every link leads somewhere. Exit code 2 sends the work back.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const exported = [...readFileSync('src/api.mjs', 'utf8').matchAll(/export function (\w+)/g)].map(([, name]) => name);
const reference = readFileSync('docs/reference.md', 'utf8');
const problems = exported
  .filter((name) => !reference.includes(`## ${name}\n`))
  .map((name) => `${name} is not documented`);
for (const page of readdirSync('docs')) {
  for (const [, target] of readFileSync(join('docs', page), 'utf8').matchAll(/\]\(([^)]+)\)/g)) {
    if (!existsSync(join('docs', target))) problems.push(`${page} links to ${target}, which is not there`);
  }
}
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 2 : 0);
