import { OURS } from './program.ts';
import type { ServiceProgram } from './program.ts';

/** systemd takes no program whose path has one of these, quoted or not. */
const NO_PROGRAM = /["'\\$]/;

/**
 * The text of a systemd user unit. `KillMode=process`: the daemon ends its members itself, and after a crash or
 * `troupe stop --keep` the next daemon takes them over. Exit code 75: another daemon runs, so another start is no help.
 */
export function unitText({ command, variables }: ServiceProgram): string {
  const [program] = command;
  const words = NO_PROGRAM.test(program) ? ['/bin/sh', '-c', 'exec "$0" "$@"', ...command] : command;
  return [
    `# ${OURS}`,
    '[Unit]',
    'Description=Troupe, a runtime for teams of coding agents',
    '',
    '[Service]',
    'Type=exec',
    ...Object.entries(variables).map(([name, value]) => `Environment=${quote(`${name}=${value}`)}`),
    `ExecStart=${words.map((word) => quote(word).replaceAll('$', '$$$$')).join(' ')}`,
    'Restart=on-failure',
    'RestartSec=5',
    'RestartPreventExitStatus=75',
    'KillMode=process',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n');
}

/** A word that systemd reads literally: `%` begins a specifier, a backslash an escape. */
function quote(word: string): string {
  return `"${word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')}"`;
}
