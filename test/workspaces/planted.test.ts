import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { findCheckout } from '../../src/workspaces/checkout.ts';
import { isProof } from '../proof.ts';
import { NEWER_GITS, newerGit } from './gits.ts';
import { makeSubmodule, openGarden, PLANTS } from './plants.ts';
import type { Plant } from './plants.ts';
import { newProject, openStage, plainGit, write } from './project.ts';
import type { Stage } from './project.ts';

/** A project with a submodule, and a branch that changes what the agent changes. */
function projectWithSubmodule(): { root: string; base: string; later: string } {
  const root = newProject({ lasting: true });
  const [project, submodule] = [join(root, 'project'), join(root, 'submodule')];
  const commit = makeSubmodule(submodule, (...args) => plainGit(submodule, ...args));
  plainGit(project, 'update-index', '--add', '--cacheinfo', `160000,${commit},sub`);
  write(project, { '.gitmodules': '[submodule "sub"]\n\tpath = sub\n\turl = ../submodule\n' });
  plainGit(project, 'add', '.gitmodules');
  plainGit(project, 'commit', '-qm', 'submodule');
  const base = plainGit(project, 'rev-parse', 'HEAD');
  write(project, { 'src/a.ts': 'theirs\n', 'src/later.ts': 'later\n' });
  plainGit(project, 'add', 'src');
  plainGit(project, 'commit', '-qm', 'later');
  const later = plainGit(project, 'rev-parse', 'HEAD');
  plainGit(project, 'branch', 'later');
  plainGit(project, 'reset', '-q', '--hard', base);
  return { root, base, later };
}

/** Everything that the daemon does with a folder. */
async function exercise({ workspaces, depot }: Stage, member: string, commits: { base: string; later: string }) {
  const workspace = await workspaces.open({ team: 'alpha', member }, { base: commits.base });
  const first = await workspace.save();
  write(workspace.folder, { 'src/b.ts': `${member}\n` });
  const second = await workspace.save();
  await workspace.review(second!);
  await depot.diff(commits.base, second!.commit);
  await depot.patch(commits.base, second!.commit);
  await depot.merge(commits.later, second!.commit);
  await workspace.refresh(commits.later);
  await workspace.restore(second!.commit);
  await workspace.close({ tip: commits.later });
  return first;
}

/** One project and one depot for all rows; each has folders of its own. */
function tryPlants(program: string | undefined, plants: readonly (readonly Plant[])[]): void {
  const starter = program === undefined ? {} : { program };
  let commits: ReturnType<typeof projectWithSubmodule>;
  let opened: Stage;
  let pristine: string;
  beforeAll(async () => {
    commits = projectWithSubmodule();
    opened = await openStage({ root: commits.root, ...starter });
    const { base, root } = commits;
    pristine = (await opened.workspaces.open({ team: 'alpha', member: 'pristine' }, { base })).folder;
    return () => rmSync(root, { recursive: true, force: true });
  });

  test.for(
    plants.map(
      (group, row) =>
        [
          group
            .map(({ what }) => what)
            .join('; ')
            .slice(0, 80),
          group,
          row,
        ] as const,
    ),
  )('never runs %s, which plain git does', async ([, group, row]) => {
    const { root, base } = commits;
    const marker = join(root, 'RAN');
    for (const [i, plant] of group.entries()) {
      // In a folder of its own: what runs must be this plant's.
      const shown = join(root, `shown${row}-${i}`, 'folder');
      cpSync(pristine, shown, { recursive: true });
      const plain = openGarden({ root, folder: shown, ...starter }, marker);
      plant.plant(plain);
      expect(existsSync(marker)).toBe(false);
      plant.run(plain);
      expect(existsSync(marker), `${plant.what} in plain git`).toBe(true);
      rmSync(marker);
    }
    const member = `ada${row}`;
    const { folder } = await opened.workspaces.open({ team: 'alpha', member }, { base });
    const garden = openGarden({ root, folder, ...starter }, marker);
    for (const plant of group) plant.plant(garden);
    const inherited = group.flatMap((plant) => Object.entries(plant.inherited?.(garden) ?? {}));
    const needsOwn = inherited.length > 0;
    const stage = needsOwn ? await openStage({ root, ...starter, inherited: Object.fromEntries(inherited) }) : opened;
    await exercise(stage, member, commits);
    expect(existsSync(marker)).toBe(false);
  });

  test('leaves a whole depot', async () => {
    expect(await opened.depot.check()).toEqual([]);
  });
}

/** Rows that are tried in one folder. A proof tries each alone: one could hide another. */
function grouped(count: number): Plant[][] {
  if (isProof) return PLANTS.map((plant) => [plant]);
  return Array.from({ length: count }, (_, group) => PLANTS.filter((_plant, i) => i % count === group));
}

describe("this machine's git", () => tryPlants(undefined, grouped(4)));

describe.for(NEWER_GITS)('git $version', (git) => {
  const program = newerGit(git);
  if (program !== undefined) {
    tryPlants(program, grouped(1));
    return;
  }
  test('never runs what an agent planted', (context) => context.skip(`git ${git.version} is not installed`));
});

test('nothing runs that the settings of the checkout itself name', async () => {
  const { root } = projectWithSubmodule();
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const project = join(root, 'project');
  const marker = join(root, 'RAN');
  const garden = openGarden({ root, folder: project }, marker);
  for (const plant of PLANTS) if (!plant.inherited) plant.plant(garden);
  const stage = await openStage({ root });
  expect('reason' in (await findCheckout(stage.git, project, { HOME: root }))).toBe(false);
  await stage.depot.uncommitted();
  await stage.depot.takeUncommitted();
  await stage.depot.take(stage.checkout);
  expect(existsSync(marker)).toBe(false);
  garden.plain(['status']);
  expect(existsSync(marker)).toBe(true);
});
