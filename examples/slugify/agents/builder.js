import { readTurn, send, write } from './turn.js';

const { task, feedback } = await readTurn();

if (task.metadata.key === 'scaffold') {
  write('package.json', '{ "name": "slugify", "version": "1.0.0", "type": "module" }\n');
  write('README.md', '# slugify\n\n## Style\n\nnot yet\n\n## Speed\n\nnot yet\n');
  console.log('package.json and README.md');
} else {
  write('src/slugify.js', feedback ? careful() : naive());
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
