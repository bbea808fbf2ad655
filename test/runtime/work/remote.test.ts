import { readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitingOf } from '../../../src/core/waiting.ts';
import type { WorkPack } from '../../../src/core/work.ts';
import { diffWork } from '../../../src/runtime/work/compare.ts';
import { reportWork } from '../../../src/runtime/work/report.ts';
import { NEEDS_NATS, startNats } from '../../nats/server.ts';
import type { NatsServers } from '../../nats/server.ts';
import { until } from '../../until.ts';
import { plainGit, write } from '../../workspaces/project.ts';
import { begin, depotOf, doTask, newNetwork, newProject, raise } from './network.ts';
import type { Machine } from './network.ts';

/** A project whose two checkouts know a server as `origin`. It has the first commits, and not the base. */
function newServer() {
  const project = newProject();
  const bare = join(dirname(project.first), 'server.git');
  plainGit(dirname(bare), 'init', '-q', '--bare', '-b', 'main', bare);
  plainGit(project.first, 'remote', 'add', 'origin', bare);
  plainGit(project.first, 'push', '-q', 'origin', 'HEAD~1:refs/heads/main');
  plainGit(project.second, 'remote', 'set-url', 'origin', '../server.git');
  const refs = (): string[] =>
    plainGit(bare, 'for-each-ref', '--format=%(refname)', 'refs/troupe').split('\n').filter(Boolean);
  return { ...project, bare, refs, remote: { name: 'origin', url: bare } };
}

/** All packs that the journal names. */
async function packsOf({ ledger }: Machine, teamId: string): Promise<WorkPack[]> {
  const packs: WorkPack[] = [];
  for await (const { events } of ledger.read(teamId, 0)) {
    for (const event of events) if ('pack' in event && event.pack) packs.push(event.pack);
  }
  return packs;
}

const waiting = ({ ledger }: Machine, teamId: string, memberId: string) =>
  ledger.view(teamId, ({ members }) => waitingOf(members.get(memberId)!));

const sweep = 1_000;

describe('work that travels by a git remote', NEEDS_NATS, () => {
  let servers: NatsServers;
  beforeAll(async () => {
    servers = await startNats();
  });
  afterAll(() => servers?.stop());

  test('lands for all machines, also for one without a checkout; refs go when everybody has it', async () => {
    const server = newServer();
    const { start } = newNetwork(servers);
    const alpha = await start('alpha', [server.first], { sweepEvery: sweep });
    const beta = await start('beta', [server.second], { sweepEvery: sweep });
    const gamma = await start('gamma', [], { sweepEvery: sweep });
    const teamId = await raise(alpha, server, { ann: 'alpha', bob: 'beta', cid: 'gamma' });
    await doTask(alpha, teamId, 'ann', { 'one.txt': '1\n' });
    await doTask(beta, teamId, 'bob', { 'two.txt': '2\n' });
    await doTask(gamma, teamId, 'cid', { 'three.txt': '3\n' });
    const tips = [];
    for (const machine of [alpha, beta, gamma]) tips.push((await depotOf(machine, teamId)).tip);
    expect(new Set(tips).size).toBe(1);
    const { dir, tip } = await depotOf(gamma, teamId);
    expect(plainGit(dir, 'ls-tree', '--name-only', tip)).toContain('one.txt\nsrc\nthree.txt\ntwo.txt');
    // The commits before the base stay where they are.
    expect(plainGit(dir, 'rev-list', '--count', tip)).toBe('4');
    const packs = await packsOf(alpha, teamId);
    expect(packs.length).toBe(6);
    for (const pack of packs) expect(pack).toEqual({ commit: pack.commit, remote: 'origin' });
    const refOf = (id: string): string => `refs/troupe/${teamId}/${id}`;
    // A commit that the journal does not name keeps its ref for an hour, such as one that another machine merged first.
    const named = packs.map(({ commit }) => refOf(commit)).filter((ref) => ref !== refOf(tip));
    await until('works have no refs', async () => !server.refs().some((ref) => named.includes(ref)));
    expect(server.refs()).toContain(refOf(tip));

    // What the remote no longer has comes from another machine, by the remote: for one that comes later, ...
    const empty = () => {
      for (const ref of server.refs()) plainGit(server.bare, 'update-ref', '-d', ref);
      plainGit(server.bare, 'gc', '-q', '--prune=now');
    };
    empty();
    const delta = await start('delta', []);
    expect((await depotOf(delta, teamId)).tip).toBe(tip);
    expect(server.refs().sort()).toEqual([server.base, tip].map(refOf).sort());
    // ... and for one that may not push work without the commits before it.
    empty();
    await doTask(gamma, teamId, 'cid', { 'four.txt': '4\n' });
    expect(server.refs()).toContain(refOf((await depotOf(beta, teamId)).tip));
    await alpha.works.remove(teamId);
    await until('nothing of the team is left', async () => server.refs().length === 0);
  });

  test('waits for a remote that is away, says so, and loses nothing', async () => {
    const server = newServer();
    const { start } = newNetwork(servers);
    const alpha = await start('alpha', [server.first]);
    const beta = await start('beta', [server.second]);
    const teamId = await raise(alpha, server, { ann: 'alpha', bob: 'beta' });
    await doTask(beta, teamId, 'bob', { 'bob.txt': 'b\n' });
    const id = await begin(alpha, teamId, 'ann', { 'ann.txt': 'a\n' });
    renameSync(server.bare, `${server.bare}-away`);
    const complete = () => alpha.tasks.completeTask(teamId, id, 'ann');
    await expect(complete()).rejects.toMatchObject({
      code: 'storage',
      message: expect.stringMatching(/^Cannot push to origin: .*server\.git/),
    });
    expect(await waiting(alpha, teamId, 'ann')).toMatch(/^its workspace cannot be handed in: Cannot push to origin: /);
    const { remote } = (await reportWork(alpha.ledger, alpha.works, { teamId }))!;
    expect(remote).toEqual({ name: 'origin', problem: expect.stringMatching(/^Cannot push to origin: /) });
    // Another machine can still see it: what is not on record may go beside the journal.
    expect((await diffWork(beta.ledger, beta.works, { teamId, of: 'ann' })).text).toContain('+a');
    renameSync(`${server.bare}-away`, server.bare);
    await until('it is handed in', () =>
      complete().then(
        () => true,
        (error: unknown) => {
          expect(error).toMatchObject({ code: 'storage' });
          return false;
        },
      ),
    );
    expect(await waiting(alpha, teamId, 'ann')).toBeUndefined();
    const { dir, tip } = await depotOf(beta, teamId);
    expect(plainGit(dir, 'show', `${tip}:ann.txt`)).toBe('a');
    const after = (await reportWork(alpha.ledger, alpha.works, { teamId }))!;
    expect(after.remote).toEqual({ name: 'origin' });
  });

  test('a machine that cannot fetch gets it beside the journal, and a moved ref changes nothing', async () => {
    const server = newServer();
    const { start } = newNetwork(servers);
    const alpha = await start('alpha', [server.first]);
    const beta = await start('beta', [server.second], { lands: false });
    const teamId = await raise(alpha, server, { ann: 'alpha', bob: 'beta' });
    await doTask(alpha, teamId, 'ann', { 'one.txt': '1\n' });
    // Somebody moves all refs, and wants its own commit to be taken for the work.
    write(server.second, { 'one.txt': 'evil\n' });
    plainGit(server.second, 'add', '-A');
    plainGit(server.second, 'commit', '-qm', 'evil');
    plainGit(server.second, 'push', '-q', 'origin', 'HEAD:refs/heads/evil');
    for (const ref of server.refs()) plainGit(server.bare, 'update-ref', ref, 'refs/heads/evil');
    const { dir, tip } = await depotOf(beta, teamId);
    expect(plainGit(dir, 'show', `${tip}:one.txt`)).toBe('1');
    // The remote of this checkout leads nowhere.
    plainGit(server.second, 'remote', 'set-url', 'origin', '../nowhere.git');
    await doTask(alpha, teamId, 'ann', { 'two.txt': '2\n' });
    const there = await depotOf(beta, teamId);
    expect(plainGit(there.dir, 'show', `${there.tip}:two.txt`)).toBe('2');
    const { remote } = (await reportWork(beta.ledger, beta.works, { teamId }))!;
    expect(remote?.problem).toMatch(/^Cannot fetch from origin: .*nowhere\.git/);
    expect(readFileSync(join(server.second, '.git/config'), 'utf8')).toContain('../nowhere.git');
  });

  test('a journal that is away is told at every sweep, and ends nothing', async () => {
    const errors: unknown[] = [];
    const { start } = newNetwork(servers);
    const { journal } = await start('alpha', [], { sweepEvery: 10, onError: (error) => errors.push(error) });
    await journal.close();
    await until('two sweeps have failed', () => errors.length > 1);
    expect(errors[0]).toMatchObject({ code: 'storage' });
  });
});
