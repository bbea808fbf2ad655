import { mkdirSync } from 'node:fs';
import { write } from '../workspaces/project.ts';

/** A module of the project, and the line that changes. */
export const COUNT = {
  wrong: "export const count = (text) => text.split(' ').length;\n",
  right: "export const count = (text) => text.split(' ').filter(Boolean).length;\n",
  change: '.filter(Boolean)',
};

const TEST = `import { equal } from 'node:assert';
import { count } from './count.mjs';
equal(count('one two'), 2);
`;

/** The program of a member: the task comes as JSON on standard input. Its first try is a test that fails. */
const BUILD = `import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
const { feedback } = JSON.parse(readFileSync(0, 'utf8'));
if (feedback) writeFileSync('count.mjs', ${JSON.stringify(COUNT.right)});
else appendFileSync('test.mjs', "equal(count(''), 0);\\n");
console.log(feedback ? 'Fixed it.' : 'Wrote a test.');
`;

const REVIEW = `import { writeFileSync } from 'node:fs';
writeFileSync('REVIEW.md', 'An empty text has no words now.\\n');
console.log('It is right.');
`;

/** A gate that is a module: it runs in a program of the package. */
const NAMED = `export default ({ task_subject }) => (task_subject.length > 3 ? {} : { reject: 'Say more.' });
`;

/** A small repository with tests, and with the programs of a team: members see what is committed. */
export async function makeOwnProject(
  folder: string,
  run: (line: string, cwd: string) => Promise<string>,
): Promise<void> {
  mkdirSync(folder);
  write(folder, {
    'package.json': JSON.stringify({ scripts: { test: 'node test.mjs' } }),
    'count.mjs': COUNT.wrong,
    'test.mjs': TEST,
    'build.mjs': BUILD,
    'review.mjs': REVIEW,
    'named.mjs': NAMED,
  });
  await run('git init -q && git add . && git commit -qm Begin', folder);
}
