import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { findHome } from '../../client/home.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { openClient } from '../reach/connect.ts';
import { print, toJson } from '../show/write.ts';

/** An opener that works either exits with 0, or keeps running as the browser itself. */
const GRACE_MS = 1_500;

/** Opens the dashboard with a one-time code; prints its address if there is no visible browser. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { teamId, open = true } = given.input as { teamId?: string; open?: boolean };
  const client = openClient(environment);
  try {
    if (teamId !== undefined) await client.call('team.show', { teamId }, { signal });
    const { url } = await client.call('ui.login', {}, { signal });
    const address = teamId === undefined ? url : url.replace('/#', `/t/${teamId}#`);
    if (given.json) print(toJson({ url: address }, screen.isTerminal ? 2 : undefined));
    else if (open && (await openBrowser(address, environment))) {
      print(`Opening the dashboard at ${new URL(address).origin}\n`);
    } else print(`${address}\n${screen.isTerminal ? 'It opens the dashboard once, within a minute.\n' : ''}`);
  } finally {
    client.close();
  }
  return 0;
}

/** Whether a program opened the URL. One that fails at once has no display or no browser. */
function openBrowser(url: string, environment: NodeJS.ProcessEnv): Promise<boolean> {
  const isMac = process.platform === 'darwin';
  if (!isMac && !environment['DISPLAY'] && !environment['WAYLAND_DISPLAY']) return Promise.resolve(false);
  const page = writePage(url, findHome(environment).directory);
  return new Promise((resolve) => {
    const child = spawn(isMac ? 'open' : 'xdg-open', [page], { stdio: 'ignore', detached: true, env: environment });
    const taken = setTimeout(() => resolve(true), GRACE_MS);
    child.unref();
    child.once('error', () => resolve(false));
    child.once('exit', (code) => {
      clearTimeout(taken);
      resolve(code === 0);
    });
  });
}

/** Everybody on the machine can read command lines, so the code is passed in a file that only we can read. */
function writePage(url: string, directory: string): string {
  const page = `${directory}/dashboard.html`;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  rmSync(page, { force: true });
  const html = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${url}"><title>Troupe</title>\n`;
  writeFileSync(page, html, { mode: 0o600, flag: 'wx' });
  return page;
}
