import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

interface Node {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly [key: string]: unknown;
}

const file = join(import.meta.dirname, '../../schema/troupe.schema.json');
const schema = JSON.parse(readFileSync(file, 'utf8')) as Node;

test('describes every key of a team file', () => {
  const silent: string[] = [];
  const walk = (at: unknown, path: string): void => {
    if (typeof at !== 'object' || at === null) return;
    for (const [name, property] of Object.entries((at as Node).properties ?? {})) {
      if (!property.description) silent.push(`${path}.${name}`);
    }
    for (const [key, value] of Object.entries(at)) walk(value, `${path}.${key}`);
  };
  walk(schema, '');
  expect(silent).toEqual([]);
});

test('has an id, and lets an editor refuse what Troupe refuses as a name', () => {
  expect(schema['$id']).toBe('urn:troupe:schema:team-file');
  const team = schema.properties?.['team'];
  const { pattern, not } = team as unknown as { pattern: string; not: { enum: string[] } };
  for (const name of ['Not A Name', '-x', 'x'.repeat(65), '']) expect(name).not.toMatch(new RegExp(pattern));
  expect(not.enum).toContain('none');
});
