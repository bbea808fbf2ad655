import { describe, expect, test } from 'vitest';
import type { TeamWork } from '../../../src/core/team-work.ts';
import { commit, WORK } from '../../samples/work.ts';
import { Stage, types } from '../stage.ts';

const EXEC = { kind: 'exec', command: ['true'] } as const;

/** A team whose branch is at commit 1. */
function teamApart(settings: Partial<TeamWork> = {}, leadAgentType?: string): Stage {
  const team = new Stage();
  team.as('@user', 'team.create', { name: 'alpha', work: { ...WORK, ...settings }, leadAgentType });
  team.as('@user', 'member.join', { name: 'ann', agent: EXEC });
  return team;
}

const MOVED = { from: commit(1), to: commit(5) };
const REFUSED = { commit: commit(5), ref: 'refs/deleted/alpha/1' };

describe('the branch', () => {
  test('is moved by a person, from where it is', () => {
    const team = teamApart();
    expect(team.refuse('lead', 'tip.move', MOVED)).toMatchObject({
      code: 'not_allowed',
      message: 'lead may not move the branch: only a person may',
    });
    expect(team.refuse('@user', 'tip.move', { ...MOVED, from: commit(2) })).toMatchObject({
      code: 'stale_revision',
      message: 'The branch troupe/alpha is at 1111111 now, not at 2222222: look at it again',
    });
    expect(types(team.as('@user', 'tip.move', MOVED))).toEqual(['tip:moved']);
    expect(team.state.team?.work).toMatchObject({ base: commit(1), tip: commit(5) });
    expect(team.state.team?.work).not.toHaveProperty('rewritten');
    expect(team.as('@user', 'tip.move', MOVED)).toEqual([]);
  });

  test('goes on from another base if its commits were replaced', () => {
    const team = teamApart();
    team.as('@user', 'tip.move', { ...MOVED, rewritten: true, base: commit(4) });
    expect(team.state.team?.work).toMatchObject({ base: commit(4), tip: commit(5), rewritten: true });
  });

  test('of a team on several machines moves only to a commit that all of them find', () => {
    const team = teamApart({ roots: [commit(1)] });
    expect(team.refuse('@user', 'tip.move', MOVED)).toMatchObject({
      code: 'conflict',
      message: 'Commit 5555555 lies on one machine only: store its pack first',
    });
    const pack = { commit: commit(5), hash: 'a'.repeat(64), size: 500 };
    expect(team.as('@user', 'tip.move', { ...MOVED, pack })).toMatchObject([{ type: 'tip:moved', pack }]);
  });

  test('drops the landing that was merged onto its old tip', () => {
    const team = teamApart();
    team.task();
    team.claimNext('ann');
    const size = { files: 1, added: 1, removed: 0, paths: ['a'] };
    const name = { taskId: '1', epoch: 1, commit: commit(2) };
    team.as('ann', 'work.submit', { ...name, memberId: 'ann', base: commit(1), ...size });
    const landing = { landingId: 'l1', hostId: 'h1', onto: commit(1), merged: commit(3), works: [name] };
    team.as('@system', 'landing.begin', landing);
    expect(types(team.as('@user', 'tip.move', MOVED))).toEqual(['landing:ended', 'tip:moved']);
    expect(team.state.team?.work).toMatchObject({ queue: ['1'], ended: { how: 'dropped', tasks: ['1'] } });
    expect(team.state.team?.work?.landing).toBeUndefined();
  });

  test('is put back by Troupe alone, which tells the lead each time', () => {
    const team = teamApart();
    expect(team.refuse('@user', 'tip.refuse', REFUSED)).toMatchObject({ code: 'not_allowed' });
    for (const times of [1, 2]) {
      expect(types(team.as('@system', 'tip.refuse', REFUSED))).toEqual(['tip:refused', 'message:sent']);
      expect(team.state.messages.size).toBe(times);
    }
    const [mail] = [...team.state.messages.values()];
    expect(mail).toMatchObject({ toId: 'lead', fromId: '@system', type: 'system' });
    expect(mail?.content).toContain('troupe work take 5555555 --rewrite --team alpha');
    expect(team.state.team?.work?.tip).toBe(commit(1));
  });

  test('is put back without a message if there is no lead that reads it', () => {
    const without = teamApart({}, 'none');
    expect(types(without.as('@system', 'tip.refuse', REFUSED))).toEqual(['tip:refused']);
    const stopped = teamApart();
    stopped.as('@user', 'member.leave', { memberId: 'lead' });
    expect(types(stopped.as('@system', 'tip.refuse', REFUSED))).toEqual(['tip:refused']);
  });
});

describe('work that is gone with its repository', () => {
  const LOST = { from: commit(1), to: commit(9), works: [{ taskId: '1', merged: commit(2) }], why: 'it is gone' };

  test('is given up by Troupe alone, once, and only from where the branch is', () => {
    const team = teamApart();
    for (const by of ['@user', 'lead']) expect(team.refuse(by, 'work.lose', LOST).code).toBe('not_allowed');
    expect(team.refuse('eve', 'work.lose', LOST).message).toContain('eve');
    expect(team.as('@system', 'work.lose', { ...LOST, from: commit(7) })).toEqual([]);
    expect(team.as('@system', 'work.lose', { ...LOST, to: commit(1) })).toEqual([]);
    expect(types(team.as('@system', 'work.lose', LOST))).toEqual(['work:lost']);
    expect(team.state.team?.work).toMatchObject({ tip: commit(9), lost: LOST.works });
    expect(team.as('@system', 'work.lose', LOST)).toEqual([]);
  });
});
