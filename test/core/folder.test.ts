import { describe, expect, test } from 'vitest';
import { folderOfHook, folderOfMember, folderOfNewMember } from '../../src/core/folder.ts';

const CLAUDE = { kind: 'claude' } as const;

describe('the folder of a member', () => {
  test('is the given one, else that of its lead if a daemon runs it', () => {
    expect(folderOfNewMember({ cwd: '/mine', agent: CLAUDE }, { cwd: '/lead' })).toBe('/mine');
    expect(folderOfNewMember({ agent: CLAUDE }, { cwd: '/lead' })).toBe('/lead');
    expect(folderOfNewMember({ agent: CLAUDE }, {})).toBeUndefined();
    expect(folderOfNewMember({}, { cwd: '/lead' })).toBeUndefined();
  });

  test('is its own, else that of its team if a daemon runs it', () => {
    expect(folderOfMember({ cwd: '/mine', agent: CLAUDE }, '/team')).toBe('/mine');
    expect(folderOfMember({ agent: CLAUDE }, '/team')).toBe('/team');
    expect(folderOfMember({ agent: { kind: 'function' } }, '/team')).toBeUndefined();
    expect(folderOfMember({}, '/team')).toBeUndefined();
    expect(folderOfMember(undefined, '/team')).toBeUndefined();
  });
});

test('a hook runs in the folder that it names, else where the work is, unless its approval fixes a folder', () => {
  const places = { work: '/work', fallback: '/home' };
  expect(folderOfHook({ cwd: '/gates' }, places)).toBe('/gates');
  expect(folderOfHook({}, places)).toBe('/work');
  expect(folderOfHook({}, { fallback: '/home' })).toBe('/home');
  expect(folderOfHook({ approved: 'x' }, places)).toBe('/home');
});
