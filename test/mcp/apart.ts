import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { AgentSpec } from '../../src/core/agent.ts';
import { JoinInput } from '../../src/core/member.ts';
import type { TeamSetup } from '../../src/core/team-work.ts';
import type { ResultOf } from '../../src/operations/index.ts';
import { hashSetup, openApprovals } from '../../src/runtime/hooks/approvals.ts';
import { openSetups } from '../../src/runtime/work/setup.ts';
import { openTeamWorks } from '../../src/runtime/work/team-works.ts';
import { openProjects } from '../../src/workspaces.ts';
import { newProject } from '../workspaces/project.ts';
import { openHouse } from './house.ts';
import type { House } from './house.ts';

interface Options {
  /** The agents of alice and bob. */
  readonly agents?: Readonly<Record<string, AgentSpec>>;
  readonly files?: Record<string, string>;
  /** The command that makes workspaces ready. */
  readonly setup?: string;
  /** The folder of the team in the repository. */
  readonly prefix?: string;
}

/** A team with workspaces. */
export interface Apart {
  readonly house: House;
  readonly repository: string;
  /** Opens the workspace of a member. */
  readonly folder: (memberId: string) => Promise<string>;
}

/** A team `demo` with workspaces; alice and bob have their own. No process is started. */
export async function openApart({ agents = {}, files, setup: command, prefix = '' }: Options = {}): Promise<Apart> {
  const root = newProject(files ? { files } : {});
  const repository = join(root, 'project');
  const environment = { PATH: process.env['PATH'], HOME: root };
  const projects = await openProjects({
    root: join(root, 'state'),
    environment,
    marks: {},
    endLeftovers: async () => {},
  });
  const house = openHouse({
    worksOf(ledger) {
      const approvals = openApprovals(join(root, 'approvals.json'));
      const records = { newId: (): string => `hook-${crypto.randomUUID()}`, write: () => {}, remove: () => {} };
      const works = openTeamWorks({
        ledger,
        projects,
        approvals,
        setups: openSetups({ approvals, records, environmentOf: () => environment }),
        onError: (error) => expect.unreachable(String(error)),
      });
      onTestFinished(() => works.close());
      return works;
    },
  });
  const project = await projects.open(repository);
  if (project.kind !== 'clone') throw new Error('It is no clone');
  const { ledger } = house.services;
  const work = {
    workspaces: 'own',
    repository,
    prefix,
    base: project.checkout.head,
    branch: 'troupe/demo',
    ...(command !== undefined && { setup: setupOf(command, join(repository, prefix)) }),
  } as const;
  await house.services.works?.start();
  await house.land();
  await house.call('team.create', { name: 'demo' });
  await ledger.execute('demo', { type: 'team.update', by: '@user', work }, () => undefined);
  for (const name of ['alice', 'bob']) {
    const agent = agents[name] ?? { kind: 'exec', command: ['true'] };
    await ledger.execute(
      'demo',
      { type: 'member.join', by: '@user', ...JoinInput.parse({ name, agent }) },
      () => undefined,
    );
  }
  const folder = async (memberId: string): Promise<string> => {
    const opened = await house.call<ResultOf<'work.open'>>('work.open', { teamId: 'demo', memberId });
    return opened?.folder ?? '';
  };
  return { house, repository, folder };
}

/** A setup as a person approved it. */
function setupOf(command: string, folder: string): TeamSetup {
  return { command, timeout: 60_000, folder, approved: hashSetup({ command }, folder) };
}
