import { existsSync, readFileSync, realpathSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { JoinInput } from '../../../src/core/member.ts';
import { parse } from '../../../src/core/parse.ts';
import { CreateTeamInput } from '../../../src/core/team.ts';
import type { WorkPack } from '../../../src/core/work.ts';
import { natsJournal } from '../../../src/journal/nats.ts';
import type { NatsJournal } from '../../../src/journal/nats.ts';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { SharedTaskList } from '../../../src/ledger/task-list.ts';
import { keepQueues } from '../../../src/runtime/landing/queue-keeper.ts';
import { diffWork } from '../../../src/runtime/work/report.ts';
import { openTeamWorks } from '../../../src/runtime/work/team-works.ts';
import type { TeamWorks } from '../../../src/runtime/work/team-works.ts';
import { openProjects } from '../../../src/workspaces.ts';
import { verdict } from '../../ledger/task-lists.ts';
import { NEEDS_NATS, PATIENT, startNats } from '../../nats/server.ts';
import type { NatsServers } from '../../nats/server.ts';
import { rounds } from '../../proof.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { commitAll, makeRepository, plainGit, write } from '../../workspaces/project.ts';

const EXEC = { kind: 'exec', command: ['true'] } as const;

/** What a daemon has for workspaces, without the daemon. */
interface Machine {
  readonly name: string;
  /** Its state directory. */
  readonly root: string;
  readonly journal: NatsJournal;
  readonly ledger: Ledger;
  readonly works: TeamWorks;
  readonly tasks: SharedTaskList;
}

describe('teams on several machines', NEEDS_NATS, () => {
  let servers: NatsServers;
  let teams = 0;
  beforeAll(async () => {
    servers = await startNats();
  });
  afterAll(() => servers?.stop());

  /** Machines that share a journal and reach each other. */
  function newNetwork() {
    const url = `${servers.url}?prefix=work${teams++}`;
    const alive = new Map<string, Machine>();

    async function start(
      name: string,
      folders: readonly string[],
      { root = realpathSync(temporaryFolder()), lands = true }: { root?: string; lands?: boolean } = {},
    ): Promise<Machine> {
      const journal = await natsJournal(url, PATIENT);
      const ledger = new Ledger(journal);
      const environment = { PATH: process.env['PATH'], HOME: root };
      const projects = await openProjects({
        root,
        environment,
        marks: {},
        endLeftovers: async () => {},
        folders: () => folders,
      });
      const others = {
        names: () => [...alive.keys()].filter((one) => one !== name),
        ask: async (other: string, question: unknown) => {
          const answer = await alive.get(other)?.works.answer(JSON.parse(JSON.stringify(question)));
          return JSON.parse(JSON.stringify(answer ?? null)) as unknown;
        },
      };
      const several = { store: journal.packs, hostId: name, others };
      const works = openTeamWorks({ ledger, projects, several, onError() {} });
      await works.start();
      const tasks = new SharedTaskList(ledger, { works });
      const gate = { executeTaskCompletedHook: async () => verdict(0), judgesCompletions: async () => false };
      const queues = keepQueues({
        ledger,
        gate,
        git: works,
        hostId: name,
        isAlive: (other) => works.isAlive(other),
        isNear: (state) => works.isNear(state),
        lookEvery: 100,
        onError() {},
      });
      if (lands) await queues.start();
      const machine = { name, root, journal, ledger, works, tasks };
      alive.set(name, machine);
      onTestFinished(async () => {
        queues.close();
        await works.close();
        tasks.close();
        await ledger.close();
        await journal.close();
      });
      return machine;
    }
    return { start, lose: (name: string) => alive.delete(name) };
  }

  /** A repository with a history, and a clone. */
  function newProject() {
    const folder = realpathSync(temporaryFolder());
    const [first, second] = [join(folder, 'first'), join(folder, 'second')];
    makeRepository(first);
    write(first, { 'src/a.ts': Array.from({ length: 30 }, (_, i) => `line ${i}`).join('\n') });
    const base = commitAll(first);
    plainGit(folder, 'clone', '-q', first, second);
    return { first, second, base, roots: [plainGit(first, 'rev-list', '--max-parents=0', 'HEAD')] };
  }

  /** A team whose members work on named machines; nobody has its repository where it was brought up. */
  async function raise(
    { ledger }: Machine,
    { base, roots }: { base: string; roots: readonly string[] },
    members: Readonly<Record<string, string>>,
  ): Promise<string> {
    const teamId = `team-${teams}`;
    const about = {
      workspaces: 'own',
      repository: '/nowhere/project',
      prefix: '',
      branch: `troupe/${teamId}`,
    } as const;
    const work = { ...about, base, roots: [...roots] };
    const team = { type: 'team.create', by: '@user', ...parse(CreateTeamInput, { name: teamId }), work } as const;
    await ledger.execute(teamId, team, () => undefined);
    for (const [name, hostId] of Object.entries(members)) {
      const join = { type: 'member.join', by: '@user', ...parse(JoinInput, { name, agent: EXEC }) } as const;
      await ledger.execute(teamId, join, () => undefined);
      await ledger.execute(teamId, { type: 'member.place', by: '@system', memberId: name, hostId }, () => undefined);
    }
    return teamId;
  }

  /** A member claims a new task and changes files for it. */
  async function begin(machine: Machine, teamId: string, memberId: string, files: Record<string, string>) {
    const { tasks, works } = machine;
    const { id } = await tasks.createTask(teamId, 'lead', { title: `For ${memberId}`, assigneeId: memberId });
    const { epoch } = await tasks.claimTask(teamId, id, memberId);
    await works.begin({ teamId, memberId }, { taskId: id, epoch });
    const { folder } = (await works.open({ teamId, memberId }))!;
    write(folder, files);
    return id;
  }

  async function doTask(machine: Machine, teamId: string, memberId: string, files: Record<string, string>) {
    const id = await begin(machine, teamId, memberId, files);
    await machine.tasks.completeTask(teamId, id, memberId);
    return id;
  }

  /** The packs that the journal names. */
  async function packsOf({ ledger }: Machine, teamId: string): Promise<WorkPack[]> {
    const packs: WorkPack[] = [];
    for await (const { events } of ledger.read(teamId, 0)) {
      for (const event of events) if (event.type === 'work:landed' && event.pack) packs.push(event.pack);
    }
    return packs;
  }

  /** The depot of a team on a machine, at the tip. */
  async function depotOf({ works }: Machine, teamId: string) {
    await works.align(teamId);
    const { depot, work } = (await works.placeOf(teamId))!;
    expect(plainGit(depot.dir, 'rev-parse', `refs/heads/${work.branch}`)).toBe(work.tip);
    expect(plainGit(depot.dir, 'fsck', '--no-dangling')).toBe('');
    return { dir: depot.dir, tip: work.tip };
  }

  test('land at once: one machine makes the landings, and nothing lands twice', async () => {
    const project = newProject();
    const { start } = newNetwork();
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
    const { start, lose } = newNetwork();
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
    const { start, lose } = newNetwork();
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
    const { start, lose } = newNetwork();
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
    const { start, lose } = newNetwork();
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
