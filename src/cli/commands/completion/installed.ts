import { existsSync, readFileSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { findUserHome } from '../../../agents/user-home.ts';

/** A file with a completion script of Troupe. */
export interface InstalledCompletion {
  readonly shell: 'bash' | 'zsh' | 'fish';
  readonly path: string;
}

/** Every script says in its first two lines which one it is. */
const OURS = /^# Completion of troupe for (bash|zsh|fish):/m;
const HEAD_BYTES = 400;

/** Completion scripts in the folders where shells look for them. People put them there, with `troupe completion`. */
export function findCompletions(environment: NodeJS.ProcessEnv): InstalledCompletion[] {
  return placesOf(environment).flatMap((path) => {
    const [, shell] = OURS.exec(readText(path).slice(0, HEAD_BYTES)) ?? [];
    return shell === undefined ? [] : [{ shell: shell as InstalledCompletion['shell'], path }];
  });
}

/** A line in a start file of a shell that loads completions of Troupe. */
export interface LoadingLine {
  readonly path: string;
  readonly line: number;
}

/** The lines with which start files of shells load completions. */
export function findLoadingLines(environment: NodeJS.ProcessEnv): LoadingLine[] {
  const home = findUserHome(environment);
  const files = ['.bashrc', '.bash_profile', '.profile', '.zshrc', '.zprofile'].map((name) => join(home, name));
  return [...files, join(folderOf(environment, 'XDG_CONFIG_HOME', '.config'), 'fish/config.fish')].flatMap((path) =>
    readText(path)
      .split('\n')
      .flatMap((text, at) => (/^[^#]*\btroupe completion\b/.test(text) ? [{ path, line: at + 1 }] : [])),
  );
}

function placesOf(environment: NodeJS.ProcessEnv): string[] {
  const home = findUserHome(environment);
  const data = folderOf(environment, 'XDG_DATA_HOME', '.local/share');
  const bash = environment['BASH_COMPLETION_USER_DIR'] ?? '';
  return [
    ...[...(isAbsolute(bash) ? [join(bash, 'completions')] : []), join(data, 'bash-completion/completions')].flatMap(
      (folder) => [join(folder, 'troupe'), join(folder, 'troupe.bash')],
    ),
    join(home, '.bash_completion.d/troupe'),
    ...['.zfunc', '.zsh', '.zsh/completions', '.oh-my-zsh/completions', '.oh-my-zsh/custom/completions'].map((folder) =>
      join(home, folder, '_troupe'),
    ),
    join(data, 'zsh/site-functions/_troupe'),
    join(folderOf(environment, 'XDG_CONFIG_HOME', '.config'), 'fish/completions/troupe.fish'),
    join(data, 'fish/vendor_completions.d/troupe.fish'),
  ];
}

function folderOf(environment: NodeJS.ProcessEnv, variable: string, fallback: string): string {
  const named = environment[variable] ?? '';
  return isAbsolute(named) ? named : join(findUserHome(environment), fallback);
}

/** The text of a regular file; empty if there is none, or we may not read it. */
function readText(path: string): string {
  try {
    return existsSync(path) && statSync(path).isFile() ? readFileSync(path, 'utf8') : '';
  } catch {
    return '';
  }
}
