import { describe, expect, test } from 'vitest';
import {
  folderInWorkspace,
  folderOfHook,
  folderOfMember,
  folderOfNewMember,
  folderOfWork,
  isApart,
  isInFolderOf,
  workspaceOfNewMember,
} from '../../src/core/folder.ts';
import { createState } from '../../src/core/state.ts';
import type { TaskRecord } from '../../src/core/state.ts';
import type { TeamWork } from '../../src/core/team-work.ts';
import { WORK } from '../samples/work.ts';
import { teamOf } from './stage.ts';

const CLAUDE = { kind: 'claude' } as const;

describe('the folder of a member', () => {
  test('is the given one, else that of its lead if a daemon runs it', () => {
    expect(folderOfNewMember({ cwd: '/mine', agent: CLAUDE }, { cwd: '/lead' })).toBe('/mine');
    expect(folderOfNewMember({ agent: CLAUDE }, { cwd: '/lead' })).toBe('/lead');
    expect(folderOfNewMember({ agent: CLAUDE }, {})).toBeUndefined();
    expect(folderOfNewMember({}, { cwd: '/lead' })).toBeUndefined();
    expect(folderOfNewMember({ agent: CLAUDE }, undefined)).toBeUndefined();
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

describe('a member of a team with workspaces', () => {
  const work = { repository: '/project', prefix: 'team' };

  test('has its own, unless it has another folder, shares one, or is a native teammate', () => {
    const place = (member: object) => workspaceOfNewMember(work, { agent: CLAUDE, ...member });
    expect(place({})).toBe('own');
    expect(place({ cwd: '/project/team' })).toBe('own');
    expect(place({ cwd: '/project' })).toBe('shared');
    expect(place({ workspace: 'shared' })).toBe('shared');
    expect(place({ agent: { kind: 'claude-native' } })).toBe('shared');
    expect(place({ agent: { kind: 'claude-native' }, workspace: 'own' })).toBe('own');
    expect(place({ agent: undefined })).toBeUndefined();
    expect(workspaceOfNewMember(undefined, { agent: CLAUDE })).toBeUndefined();
  });

  test('works in it, and hooks of the team file judge it there, at the same place', () => {
    expect(folderOfMember({ workspace: 'own', cwd: '/project/team', agent: CLAUDE }, '/own', '/w/ann/team')).toBe(
      '/w/ann/team',
    );
    expect(folderOfMember({ workspace: 'own', cwd: '/project/team' }, '/own')).toBe('/project/team');
    expect(folderOfMember({ workspace: 'shared', cwd: '/project/team' }, '/own', '/w/ann/team')).toBe('/project/team');
    const apart = { folders: ['/project/team', '/link'], to: '/w/ann/team' };
    const at = (cwd?: string) => folderOfHook({ cwd, approved: 'x' }, { fallback: '/home', apart });
    expect(at('/project/team')).toBe('/w/ann/team');
    expect(at('/project/team/checks')).toBe('/w/ann/team/checks');
    expect(at('/link')).toBe('/w/ann/team');
    expect(at('/project/teams')).toBe('/project/teams');
    expect(at()).toBe('/home');
  });
});

test('the folder of a team is the top of its repository, or a folder in it, in the checkout and in a workspace', () => {
  expect(folderOfWork({ repository: '/project', prefix: '' })).toBe('/project');
  expect(folderOfWork({ repository: '/project', prefix: 'a/b' })).toBe('/project/a/b');
  expect(folderInWorkspace('/w', { prefix: '' })).toBe('/w');
  expect(folderInWorkspace('/w', { prefix: 'a/b' })).toBe('/w/a/b');
});

const BEGUN = { state: 'begun', memberId: 'ann', epoch: 2, base: 'b' } as const;

test.each<[string, boolean, Partial<TaskRecord>]>([
  ['it holds the task', true, {}],
  ['another member holds it', false, { assigneeId: 'bob' }],
  ['the task ended', false, { status: 'completed' }],
  ['the work is of another member', false, { work: { ...BEGUN, memberId: 'bob' } }],
  ['the work is of an earlier try', false, { work: { ...BEGUN, epoch: 1 } }],
  ['it put the work aside', false, { work: { ...BEGUN, aside: 'refs/aside' } }],
  ['there is no work', false, { work: undefined }],
])('the workspace of a member has its work for a task if %s: %s', (_what, is, change) => {
  const task = { status: 'in_progress', assigneeId: 'ann', epoch: 2, work: BEGUN, ...change } as TaskRecord;
  expect(isInFolderOf(task, 'ann')).toBe(is);
});

test('a member works apart if its team has workspaces, and it has one of its own', () => {
  const apart = (work: TeamWork | undefined, workspace: 'own' | 'shared') => {
    const team = teamOf('ann');
    const [record, member] = [team.state.team, team.state.members.get('ann')];
    if (record && member) {
      team.state.team = { ...record, work: work && { ...work, tip: work.base } };
      team.state.members.set('ann', { ...member, workspace });
    }
    return isApart(team.state, 'ann');
  };
  expect([apart(WORK, 'own'), apart(WORK, 'shared'), apart(undefined, 'own')]).toEqual([true, false, false]);
  expect([isApart(createState('alpha'), 'ann'), isApart(teamOf().state, 'eve')]).toEqual([false, false]);
});
