import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { completeLicenses } from '../../scripts/licenses.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');

test('adds the licenses of fonts, and the text of one whose package has no file with it', () => {
  const file = join(temporaryFolder(), 'licenses.md');
  writeFileSync(
    file,
    '# Licenses\n\n## react-remove-scroll-bar - 2.3.8 (MIT)\n\n## react - 19.3.1 (MIT)\n\nIts text\n',
  );
  completeLicenses(ROOT, file, ['ui/**/*.css']);
  const text = readFileSync(file, 'utf8');
  expect(text).toMatch(
    /## react-remove-scroll-bar - 2\.3\.8 \(MIT\)\n\nCopyright \(c\) .+\n\nPermission is hereby granted/,
  );
  expect(text).toContain('## react - 19.3.1 (MIT)\n\nIts text\n');
  expect(text).toMatch(/## @fontsource-variable\/inter - .+\n\n[^]+SIL OPEN FONT LICENSE/);
  expect(text).toMatch(/## @fontsource-variable\/jetbrains-mono - .+\n\n[^]+SIL OPEN FONT LICENSE/);
});
