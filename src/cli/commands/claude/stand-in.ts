import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isThere } from '../../../agents/process.ts';
import { shellQuote } from '../../../core/shell.ts';
import type { ResultOf } from '../../../operations/index.ts';

/** Which agent plays which teammate. The stand-in passes this to the program in the pane. */
export interface Players {
  readonly home: string;
  readonly players: ResultOf<'native.players'>;
}

const TROUPE = fileURLToPath(new URL('../../../../bin/troupe.js', import.meta.url));

/**
 * Writes the script that Claude Code runs in place of itself. A pane has the environment of its tmux, not ours, so the
 * script reads files. It is short, because most teammates are Claude Code and should start directly.
 */
export function writeStandIn({ home, program, players }: Players & { program: string }): {
  path: string;
  remove(): void;
} {
  const all = join(home, 'claude');
  removeLeft(all);
  const folder = join(all, String(process.pid));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const list = join(folder, 'players.json');
  writeFileSync(list, JSON.stringify({ home, players } satisfies Players), { mode: 0o600 });
  const path = join(folder, 'teammate');
  // Patterns have only letters, digits, dashes and a star, so they need no quotes in a shell.
  const patterns = players.map(({ pattern }) => pattern).join('|');
  const ours = [process.execPath, TROUPE, '--native-teammate', list].map(shellQuote).join(' ');
  const lines = [
    '#!/bin/sh',
    '# Claude Code runs this in a pane in place of itself. Made by "troupe claude", and removed when that ends.',
    'name= before=',
    'for word do',
    '  [ "$before" = --agent-name ] && name=$word',
    '  before=$word',
    'done',
    ...(patterns === '' ? [] : ['case $name in', `  ${patterns}) exec ${ours} "$@" ;;`, 'esac']),
    `exec ${shellQuote(program)} "$@"`,
    '',
  ];
  writeFileSync(path, lines.join('\n'), { mode: 0o700 });
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/**
 * Whether the Claude Code that a list of players was written for still runs. Its starter removes the list when it ends.
 */
export function hasLead(list: string): boolean {
  return existsSync(list) && isThere(Number(basename(dirname(list))));
}

/** Removes the files of processes that were killed. */
function removeLeft(all: string): void {
  for (const name of namesIn(all)) {
    if (/^\d+$/.test(name) && !isThere(Number(name))) rmSync(join(all, name), { recursive: true, force: true });
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
