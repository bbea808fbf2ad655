import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findNativeRoot } from '../../src/bridge/layout.ts';
import { findHome } from '../../src/client/home.ts';

test.each([
  ['TROUPE_HOME before all else', { TROUPE_HOME: '/a/home', XDG_STATE_HOME: '/state' }, '/a/home'],
  ['the whole path of one that is not', { TROUPE_HOME: 'a/home' }, join(process.cwd(), 'a/home')],
  ['a folder in XDG_STATE_HOME', { XDG_STATE_HOME: '/state' }, '/state/troupe'],
  ['not one below the folder one is in', { XDG_STATE_HOME: 'state' }, join(homedir(), '.local/state/troupe')],
  ['one in the home directory, where nothing is said', { TROUPE_HOME: '' }, join(homedir(), '.local/state/troupe')],
  ['one in the named home directory', { HOME: '/a/home' }, '/a/home/.local/state/troupe'],
])('the state directory is %s', (_, environment, directory) => {
  expect(findHome(environment)).toMatchObject({ directory, socket: `${directory}/daemon.sock` });
});

test.each([['empty'], ['relative']])(
  'a HOME that is %s counts as unset, and nothing is written to / or below the folder',
  (how) => {
    const before = process.env['HOME'];
    process.env['HOME'] = how === 'empty' ? '' : 'here';
    onTestFinished(() => {
      if (before === undefined) delete process.env['HOME'];
      else process.env['HOME'] = before;
    });
    const { homedir: own } = userInfo();
    expect(findHome({}).directory).toBe(join(own, '.local/state/troupe'));
    expect(findHome({ ...process.env, TROUPE_HOME: '', XDG_STATE_HOME: '' }).directory).toBe(
      join(own, '.local/state/troupe'),
    );
    expect(findNativeRoot({ HOME: process.env['HOME'] })).toBe(join(own, '.claude'));
  },
);
