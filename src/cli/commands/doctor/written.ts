import { readFileSync, writeFileSync } from 'node:fs';
import type { Home } from '../../../client/home.ts';
import { shellWord } from '../../../core/shell.ts';
import type { CommandTable } from '../../line/command.ts';
import { completionFor } from '../completion.ts';
import { findCompletions } from '../completion/installed.ts';
import { writeService } from '../service.ts';
import { findManager, isInstalled } from '../service/manager.ts';
import { describeProgram } from '../service/program.ts';
import type { Check } from './check.ts';

/** Finds completion scripts of another version: they do not know new commands. */
export async function checkCompletions(environment: NodeJS.ProcessEnv, commands: CommandTable): Promise<Check[]> {
  const checks = findCompletions(environment).map(async ({ shell, path }): Promise<Check> => {
    const name = `completion (${shell})`;
    const text = await completionFor(shell, commands);
    if (readFileSync(path, 'utf8') === text) return { name, state: 'ok', found: path };
    const remedy = `run: troupe completion ${shell} > ${shellWord(path)}`;
    const mend = (): string => {
      writeFileSync(path, text);
      return `wrote ${path} for this version`;
    };
    return { name, state: 'warn', found: `${path} is of another version`, remedy, mend };
  });
  return Promise.all(checks);
}

/** Finds a service that starts another Node or Troupe than this one. Terminals have different PATHs, so that is no fault. */
export function checkService(home: Home, environment: NodeJS.ProcessEnv): Check[] {
  const manager = findManager(home, environment);
  if (!manager || !isInstalled(manager)) return [];
  const name = 'service';
  try {
    const program = describeProgram(home, environment);
    const written = readFileSync(manager.file, 'utf8').split('\n');
    const wanted = manager.text({ ...program, variables: {} }).split('\n');
    if (wanted.every((line) => written.includes(line))) return [{ name, state: 'ok', found: manager.file }];
    const found = `${manager.file} starts another Node or Troupe than this one`;
    const mend = (): string => {
      writeService(manager, program, false);
      return `wrote ${manager.file}; it counts from the next start`;
    };
    return [{ name, state: 'warn', found, remedy: 'run: troupe service install', mend }];
  } catch (error) {
    return [{ name, state: 'warn', found: (error as Error).message, remedy: 'run: troupe service remove' }];
  }
}
