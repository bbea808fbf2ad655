// Writes schema/troupe.schema.json, with which editors check and complete team files. With --check, it only says
// whether the file is stale.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { TeamFile } from '../src/runtime/team-file/schema.ts';

const FILE = join(dirname(import.meta.dirname), 'schema', 'troupe.schema.json');
const schema = {
  // A name, not an address: the file comes with the package.
  $id: 'urn:troupe:schema:team-file',
  title: 'Troupe team file',
  ...z.toJSONSchema(TeamFile, { io: 'input', unrepresentable: 'any' }),
};
const text = `${JSON.stringify(schema, null, 2)}\n`;

if (process.argv.includes('--check')) {
  if (readFileSync(FILE, 'utf8') !== text) {
    console.error('schema/troupe.schema.json is stale: node scripts/write-schema.ts');
    process.exitCode = 1;
  }
} else {
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, text);
}
