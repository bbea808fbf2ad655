import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { temporaryRoot } from '../../test/setup/temporary-root.ts';
import { ROOT } from '../results.ts';
import { instrument } from './instrument.ts';
import type { Mutant } from './instrument.ts';

const LEFT_OUT = ['node_modules', '.git', 'dist', 'coverage', 'site', 'release'];

/** A copy of the project in which the sources have their mutants in them, and a switch beside them. */
export interface Copy {
  readonly folder: string;
  readonly mutants: readonly Mutant[];
}

export function copyProject(root: string, sources: readonly string[]): Copy {
  const folder = makeFolder();
  const load = join(folder, 'switch.cjs');
  for (const name of readdirSync(root)) {
    if (!LEFT_OUT.includes(name)) cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  const mutants: Mutant[] = [];
  for (const file of findSources(root, sources)) {
    const made = instrument(file, readFileSync(join(root, file), 'utf8'), { firstId: mutants.length, load: LOAD });
    mutants.push(...made.mutants);
    writeFileSync(join(folder, file), made.text.replaceAll(LOAD, load));
  }
  return { folder, mutants };
}

/** A second copy, for tests that run at the same time: what is on in one is not on in the other. */
export function copyAgain({ folder, mutants }: Copy, sources: readonly string[]): Copy {
  const other = makeFolder();
  for (const name of readdirSync(folder)) {
    if (!OWN.includes(name)) cpSync(join(folder, name), join(other, name), { recursive: true });
  }
  for (const file of findSources(other, sources)) {
    const text = readFileSync(join(other, file), 'utf8');
    writeFileSync(join(other, file), text.replaceAll(join(folder, 'switch.cjs'), join(other, 'switch.cjs')));
  }
  return { folder: other, mutants };
}

const LOAD = '/switch-of-this-copy.cjs';
const OWN = ['node_modules', 'switch.cjs', 'switch.json', 'tmp', '.vite', 'plan.json', 'output', 'log'];

function findSources(root: string, patterns: readonly string[]): string[] {
  const found = globSync([...patterns], { cwd: root }).filter((path) => path.endsWith('.ts'));
  return found.toSorted();
}

function makeFolder(): string {
  const folder = mkdtempSync(join(temporaryRoot(), 'mutations-'));
  // Some tests run programs as another user.
  chmodSync(folder, 0o755);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  cpSync(join(import.meta.dirname, 'switch.cjs'), join(folder, 'switch.cjs'));
  writeFileSync(join(folder, 'switch.json'), '{"on":-1}');
  mkdirSync(join(folder, 'tmp'));
  return folder;
}
