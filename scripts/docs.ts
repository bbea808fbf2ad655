// Builds the documentation site from the Markdown files, into site/. It refuses dead links and commands that do not exist.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findWrongCommands } from './docs/commands.ts';
import { readDocuments } from './docs/document.ts';
import { findDeadLinks } from './docs/links.ts';
import { writeSite } from './docs/site.ts';

const ROOT = dirname(import.meta.dirname);
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };

const documents = readDocuments(ROOT);
const problems = [...findDeadLinks(documents, ROOT), ...findWrongCommands(documents, Object.keys(scripts))];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else {
  const files = writeSite(documents, ROOT, join(ROOT, 'site'));
  console.log(`Wrote ${files.length} files into site/. Open site/index.html; any static host serves it.`);
}
