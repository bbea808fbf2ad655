import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

/** The files that say what a project needs; `setup` runs again when one of them changes. */
export const SETUP_FILES: readonly string[] = [
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'bun.lockb',
  'deno.lock',
  'Cargo.lock',
  'Gemfile.lock',
  'composer.lock',
  'go.sum',
  'mix.lock',
  'poetry.lock',
  'uv.lock',
  'Pipfile.lock',
  'requirements.txt',
  'pyproject.toml',
];

/** A lock file that is larger than this counts by its size alone. */
const MOST_BYTES = 64 * 1024 * 1024;

/** A hash of a command and of what it reads in a folder. Links are not followed. */
export async function hashSetup(folder: string, command: string, files: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(command));
  for (const name of [...files].sort()) hash.update(JSON.stringify([name, await hashFile(join(folder, name))]));
  return hash.digest('hex');
}

async function hashFile(path: string): Promise<string> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  if (!file) return 'none';
  try {
    const facts = await file.stat();
    if (!facts.isFile()) return 'none';
    if (facts.size > MOST_BYTES) return `${facts.size} bytes`;
    return createHash('sha256')
      .update(await file.readFile())
      .digest('hex');
  } finally {
    await file.close();
  }
}
