// Writes src/cli/line/manifest.ts from the table of operations. The command line reads it instead of the table, because loading
// the table means loading zod: 60 ms where `node -e 0` takes 35. With --check it only says whether it is stale.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { commandFrom } from '../src/cli/line/from-operation.ts';
import { OPERATIONS } from '../src/operations/index.ts';

const ROOT = dirname(import.meta.dirname);

/** What is written. */
export const MANIFEST = 'src/cli/line/manifest.ts';

if (import.meta.main) main();

function main(): void {
  const path = join(ROOT, MANIFEST);
  const text = renderManifest();
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  if (!process.argv.includes('--check')) return writeFileSync(path, text);
  console.error(`${MANIFEST}: not what the operations say. Run node scripts/write-manifest.ts`);
  process.exitCode = 1;
}

/** The manifest as the operations are now. */
export function renderManifest(): string {
  const rows = OPERATIONS.map(commandFrom).map(({ words, row }) => entry(words, JSON.stringify(row)));
  return format(`// Written by scripts/write-manifest.ts from the table of operations; do not edit.
import { commandOf } from './command.ts';
import type { Command, CommandRow } from './command.ts';

/** Every operation as a command, as JSON: a command line reads the one it needs, and V8 need not build them all. */
const TABLE: Readonly<Record<string, string>> = {${rows.join(',')}};

/** The names of all commands that come from operations. */
export const COMMAND_NAMES: readonly string[] = Object.keys(TABLE);

/** The command of this name, if an operation has it. */
export function readCommand(words: string): Command | undefined {
  const row = Object.hasOwn(TABLE, words) ? TABLE[words] : undefined;
  return row === undefined ? undefined : commandOf(words, JSON.parse(row) as CommandRow);
}
`);
}

function entry(key: string, value: string): string {
  return `${JSON.stringify(key)}:${JSON.stringify(value)}`;
}

function format(source: string): string {
  const oxfmt = join(ROOT, 'node_modules/oxfmt/bin/oxfmt');
  const { status, stdout, stderr } = spawnSync(process.execPath, [oxfmt, `--stdin-filepath=${MANIFEST}`], {
    cwd: ROOT,
    input: source,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`oxfmt failed: ${stderr}`);
  return stdout;
}
