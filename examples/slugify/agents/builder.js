import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { git, readTurn, repo, send } from './turn.js';

const { task, feedback } = await readTurn();

if (task.metadata.key === 'scaffold') {
  mkdirSync(join(repo, 'src'), { recursive: true });
  mkdirSync(join(repo, 'test'));
  writeFileSync(join(repo, 'package.json'), '{ "name": "slugify", "version": "1.0.0", "type": "module" }\n');
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'chore: begin');
  console.log('a repository with package.json, src/ and test/');
} else {
  writeFileSync(join(repo, 'src', 'slugify.js'), feedback ? careful() : naive());
  git('add', '.');
  git('commit', '--quiet', '--message', feedback ? 'fix: accents, runs and ends' : 'feat: slugify');
  if (feedback) send('writer', 'slugify() needed a second try: the first one forgot accents and runs of spaces.');
  console.log(feedback ? 'slugify() with accents, runs and ends handled' : 'slugify(), the obvious way');
}

function naive() {
  return "export function slugify(text) {\n  return text.toLowerCase().replaceAll(' ', '-');\n}\n";
}

function careful() {
  return `export function slugify(text) {
  return text
    .normalize('NFKD')
    .replace(/\\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
`;
}
