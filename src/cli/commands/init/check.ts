import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** How projects of each kind run their tests. */
const CHECKS: readonly { readonly file: string; readonly command: string; readonly needs?: RegExp }[] = [
  { file: 'package.json', command: 'npm test', needs: /"test"\s*:/ },
  { file: 'Cargo.toml', command: 'cargo test' },
  { file: 'go.mod', command: 'go test ./...' },
  { file: 'pytest.ini', command: 'pytest' },
  { file: 'pyproject.toml', command: 'pytest', needs: /pytest/ },
  { file: 'Makefile', command: 'make test', needs: /^test:/m },
];

/** The command that runs a project's tests, by its files; undefined if none of them says. */
export function findCheck(folder: string): string | undefined {
  return CHECKS.find(({ file, needs }) => {
    const path = join(folder, file);
    return existsSync(path) && (needs?.test(readFileSync(path, 'utf8')) ?? true);
  })?.command;
}
