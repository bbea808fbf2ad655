import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StoredPack } from '../../../src/core/work.ts';
import { diffWork } from '../../../src/runtime/work/compare.ts';
import { NEEDS_NATS, startNats } from '../../nats/server.ts';
import type { NatsServers } from '../../nats/server.ts';
import { rounds } from '../../proof.ts';
import { commitAll, plainGit, write } from '../../workspaces/project.ts';
import { begin, depotOf, doTask, newNetwork, newProject, raise } from './network.ts';
import type { Machine } from './network.ts';

describe('teams on several machines', NEEDS_NATS, () => {
  let servers: NatsServers;
  beforeAll(async () => {
    servers = await startNats();
  });
  afterAll(() => servers?.stop());

  /** The packs that the journal names. */
  async function packsOf({ ledger }: Machine, teamId: string): Promise<StoredPack[]> {
    const packs: StoredPack[] = [];
    for await (const { events } of ledger.read(teamId, 0)) {
      for (const event of events) {
        if (event.type === 'work:landed' && event.pack && 'hash' in event.pack) packs.push(event.pack);
      }
    }
    return packs;
  }

  test('land at once: one machine makes the landings, and nothing lands twice', async () => {
    const project = newProject();
    const { start } = newNetwork(servers);
    const machines = [await start('alpha', [project.first]), await start('beta', [project.second])] as const;
    const teamId = await raise(machines[0], project, { ann: 'alpha', bob: 'beta' });
    const ids = [
      await begin(machines[0], teamId, 'ann', { 'ann-0.txt': '0\n' }),
      await begin(machines[1], teamId, 'bob', { 'bob-0.txt': '0\n' }),
    ] as const;
    await Promise.all([
      machines[0].tasks.completeTask(teamId, ids[0], 'ann'),
      machines[1].tasks.completeTask(teamId, ids[1], 'bob'),
    ]);

    const LANDINGS = rounds(2, 250);
    const land = async (machine: Machine, memberId: string) => {
      for (let i = 1; i < LANDINGS; i++) {
        await doTask(machine, teamId, memberId, { [`${memberId}-${i}.txt`]: `${i}\n` });
      }
    };
    await Promise.all([land(machines[0], 'ann'), land(machines[1], 'bob')]);
    const [one, two] = [await depotOf(machines[0], teamId), await depotOf(machines[1], teamId)];
    expect(two.tip).toBe(one.tip);
    for (const { dir, tip } of [one, two]) {
      expect(plainGit(dir, 'rev-list', '--count', `${project.base}..${tip}`)).toBe(String(2 * LANDINGS));
      const files = plainGit(dir, 'ls-tree', '--name-only', tip).split('\n');
      const made = ['ann', 'bob'].flatMap((name) => Array.from({ length: LANDINGS }, (_, i) => `${name}-${i}.txt`));
      expect(files).toEqual(expect.arrayContaining(made));
    }

    // Commits of a person travel as well, and so does a rewritten branch.
    const branch = `troupe/${teamId}`;
    plainGit(project.second, 'fetch', '-q', two.dir, `refs/heads/${branch}:refs/heads/${branch}`);
    plainGit(project.second, 'checkout', '-q', branch);
    for (const isRewritten of [false, true]) {
      write(project.second, { 'mine.txt': `${isRewritten}\n` });
      plainGit(project.second, 'add', '-A');
      plainGit(project.second, 'commit', '-q', '-m', 'mine', ...(isRewritten ? ['--amend'] : []));
      const taken = await machines[1].works.take(teamId, { rewrite: isRewritten });
      expect(taken).toMatchObject({ isMoved: true, isRewritten });
      expect((await depotOf(machines[0], teamId)).tip).toBe(plainGit(project.second, 'rev-parse', 'HEAD'));
      await doTask(machines[0], teamId, 'ann', { 'after.txt': `${isRewritten}\n` });
      const { dir, tip } = await depotOf(machines[1], teamId);
      expect(plainGit(dir, 'log', '-2', '--format=%s', tip)).toBe('For ann\nmine');
    }
  });

  test('a machine without a checkout gets the base, and what landed, from the others', async () => {
    const project = newProject();
    const { start, lose } = newNetwork(servers);
    const alpha = await start('alpha', [project.first]);
    const gamma = await start('gamma', []);
    const teamId = await raise(alpha, project, { ann: 'alpha', cid: 'gamma' });
    await doTask(alpha, teamId, 'ann', { 'one.txt': '1\n' });
    await doTask(gamma, teamId, 'cid', { 'two.txt': '2\n', 'src/b.ts': 'changed\n' });
    const { dir, tip } = await depotOf(gamma, teamId);
    expect((await depotOf(alpha, teamId)).tip).toBe(tip);
    expect(plainGit(dir, 'show', '--stat', '--format=', tip)).toContain('two.txt');
    // The commits before the base stay where they are.
    expect(plainGit(dir, 'rev-list', '--count', tip)).toBe('3');

    // Nobody needs packs that all have. Who comes later gets one from another machine.
    await alpha.journal.packs.remove(`${teamId}/`);
    const beta = await start('beta', [project.second]);
    expect((await depotOf(beta, teamId)).tip).toBe(tip);

    // Without anyone who has it, a machine says what it lacks.
    await alpha.journal.packs.remove(`${teamId}/`);
    for (const name of ['alpha', 'beta', 'gamma']) lose(name);
    const late = await start('late', []);
    await expect(late.works.align(teamId)).rejects.toMatchObject({
      code: 'storage',
      message: expect.stringMatching(
        /^This machine lacks the commit \w{7} that team team-\d+ began from: name a checkout/,
      ),
    });
  });

  test('folders stay as they are when the checkout moves, or is gone, and the daemon starts again', async () => {
    const project = newProject();
    const { start, lose } = newNetwork(servers);
    const alpha = await start('alpha', [project.first]);
    const beta = await start('beta', [project.second]);
    const teamId = await raise(alpha, project, { ann: 'alpha', bob: 'beta' });
    const id = await begin(beta, teamId, 'bob', { 'half.txt': 'half\n' });
    await doTask(alpha, teamId, 'ann', { 'one.txt': '1\n' });
    lose('beta');
    renameSync(project.second, `${project.second}-moved`);
    const again = await start('beta', [`${project.second}-moved`], { root: beta.root });
    const { folder } = (await again.works.open({ teamId, memberId: 'bob' }))!;
    expect(readFileSync(join(folder, 'half.txt'), 'utf8')).toBe('half\n');
    write(folder, { 'rest.txt': 'rest\n' });
    await again.tasks.completeTask(teamId, id, 'bob');
    const { dir, tip } = await depotOf(again, teamId);
    expect(plainGit(dir, 'show', '--format=', '--name-only', tip)).toBe('half.txt\nrest.txt');
    expect((await depotOf(alpha, teamId)).tip).toBe(tip);

    // Another machine deletes the team: the folders go, and what they have is kept.
    write(folder, { 'late.txt': 'late\n' });
    await alpha.works.remove(teamId);
    await alpha.ledger.drop(teamId);
    await again.works.leftovers.sweep();
    expect(existsSync(folder)).toBe(false);
    const left = await again.works.leftovers.list();
    expect(left.map(({ kind }) => kind).sort()).toEqual(['kept', 'trash']);
    const kept = plainGit(dir, 'for-each-ref', '--format=%(objectname)', `refs/kept/${teamId}/bob`);
    expect(plainGit(dir, 'show', `${kept}:late.txt`)).toBe('late');
  });

  test('a pack that is not what the journal names is never taken in; another machine makes it again', async () => {
    const project = newProject();
    const { start, lose } = newNetwork(servers);
    const alpha = await start('alpha', [project.first]);
    const beta = await start('beta', [project.second], { lands: false });
    const teamId = await raise(alpha, project, { ann: 'alpha', bob: 'beta' });
    await doTask(alpha, teamId, 'ann', { 'one.txt': '1\n' });
    const [{ commit, hash } = { commit: '', hash: '' }] = await packsOf(alpha, teamId);
    const name = `${teamId}/${commit}/${hash}`;
    const { packs } = alpha.journal;
    const good = (await packs.get(name, { maxBytes: 1_000_000 }))!;
    await packs.remove(name);
    await packs.put(name, Buffer.concat([good, Buffer.from('more')]));
    lose('alpha');
    await expect(beta.works.align(teamId)).rejects.toMatchObject({
      code: 'storage',
      message: expect.stringContaining('it is not the one that the journal names'),
    });
    const again = await start('alpha', [project.first]);
    await expect(again.works.align(teamId)).rejects.toThrow(/This machine lacks commit/);
    await packs.remove(name);
    await packs.put(name, good);
    const [one, two] = [await depotOf(beta, teamId), await depotOf(again, teamId)];
    expect(one.tip).toBe(two.tip);
  });

  test('work in a workspace of another machine can be seen and accepted from any', async () => {
    const project = newProject();
    const { start, lose } = newNetwork(servers);
    const alpha = await start('alpha', [project.first]);
    const beta = await start('beta', [project.second]);
    // A commit that only one of them has.
    write(project.first, { 'new.txt': 'new\n' });
    const base = commitAll(project.first);
    const teamId = await raise(alpha, { ...project, base }, { ann: 'alpha', bob: 'beta' });
    const id = await begin(beta, teamId, 'bob', { 'bob.txt': 'by bob\n' });
    const seen = await diffWork(alpha.ledger, alpha.works, { teamId, of: 'bob' });
    expect(seen.text).toContain('+by bob');
    await alpha.tasks.completeTask(teamId, id, '@user');
    const { tip } = await depotOf(alpha, teamId);
    expect((await depotOf(beta, teamId)).tip).toBe(tip);
    // It went forward with the branch, and nothing was put away.
    await doTask(beta, teamId, 'bob', { 'more.txt': 'more\n' });
    for await (const { events } of alpha.ledger.read(teamId, 0)) {
      expect(events.map(({ type }) => type)).not.toContain('work:kept');
    }

    // Two that conflict: the second goes back to its holder, and any machine can show it.
    const first = await begin(alpha, teamId, 'ann', { 'same.txt': 'ann\n' });
    const second = await begin(beta, teamId, 'bob', { 'same.txt': 'bob\n' });
    await alpha.tasks.completeTask(teamId, first, 'ann');
    const complete = () => beta.tasks.completeTask(teamId, second, 'bob');
    await expect(complete()).rejects.toThrow(`changed by task #${first} "For ann" of ann`);
    const kept = await diffWork(alpha.ledger, alpha.works, { teamId, of: second });
    expect(kept).toMatchObject({ title: `task ${second}, which conflicts with the branch` });
    expect(kept.text).toContain('+bob');
    const { folder } = (await beta.works.open({ teamId, memberId: 'bob' }))!;
    write(folder, { 'same.txt': 'ann\nbob\n' });
    await complete();
    const both = await depotOf(alpha, teamId);
    expect(plainGit(both.dir, 'show', `${both.tip}:same.txt`)).toBe('ann\nbob');
    lose('beta');
    await expect(diffWork(alpha.ledger, alpha.works, { teamId, of: 'bob' })).rejects.toThrow(
      'The workspace of bob is on the machine beta, which is not connected',
    );
  });
});
