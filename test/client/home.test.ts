import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findHome } from '../../src/client/home.ts';

test.each([
  ['TROUPE_HOME before all else', { TROUPE_HOME: '/a/home', XDG_STATE_HOME: '/state' }, '/a/home'],
  ['the whole path of one that is not', { TROUPE_HOME: 'a/home' }, join(process.cwd(), 'a/home')],
  ['a folder in XDG_STATE_HOME', { XDG_STATE_HOME: '/state' }, '/state/troupe'],
  ['not one below the folder one is in', { XDG_STATE_HOME: 'state' }, join(homedir(), '.local/state/troupe')],
  ['one in the home directory, where nothing is said', { TROUPE_HOME: '' }, join(homedir(), '.local/state/troupe')],
])('the state directory is %s', (_, environment, directory) => {
  expect(findHome(environment)).toMatchObject({ directory, socket: `${directory}/daemon.sock` });
});
