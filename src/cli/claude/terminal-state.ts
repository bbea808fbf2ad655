import { spawnSync } from 'node:child_process';

/** What a program that draws on the whole screen leaves switched on when it is killed: mouse, keys, paste, other screen, no cursor. */
const SWITCH_OFF =
  '\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l\x1b[<u\x1b[>4;0m\x1b[?1049l\x1b[?25h\x1b[0m';

/** Notes how the terminal is set, and returns the way to set it so again; where there is none, nothing is done. */
export function noteTerminal(): () => void {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return () => {};
  const found = spawnSync('stty', ['-g'], { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' });
  const settings = found.status === 0 ? found.stdout.trim() : '';
  return () => {
    process.stdout.write(`${SWITCH_OFF}\r\n`);
    if (settings !== '') spawnSync('stty', [settings], { stdio: ['inherit', 'ignore', 'ignore'] });
  };
}
