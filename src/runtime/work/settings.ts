import { readFileSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { AGENTS, findAgent } from '../../agents/catalog.ts';
import type { AgentRow } from '../../agents/row.ts';
import { catalogNameOf } from '../../core/agent-kinds.ts';
import type { AgentSpec } from '../../core/agent.ts';
import { TeamError } from '../../core/errors.ts';
import { folderInWorkspace } from '../../core/folder.ts';
import type { TeamState } from '../../core/state.ts';
import { requireMember } from '../../core/view.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Saved, Workspace } from '../../workspaces/workspace.ts';
import { digestFiles, hashAll } from '../hooks/approvals.ts';
import type { Approvals } from '../hooks/approvals.ts';
import { scriptsOf } from '../hooks/hook-files.ts';
import { filesRunBy } from '../hooks/run-files.ts';
import type { TeamPlace } from './team-places.ts';

/** Every file of a checkout by which some agent runs programs without asking. */
const OBEYED = [...new Set((Object.values(AGENTS) as AgentRow[]).flatMap(({ obeys = [] }) => obeys))];

/**
 * Settings of agents in workspaces, and programs of the repository that members run. An agent that writes such a file
 * gives its next session, and with the branch every other member, programs to run that no person has agreed to. Claude
 * Code takes settings up even in a running session. So they must be as the base or the user's checkout has them, or as a
 * person agreed to.
 */
export interface WorkSettings {
  /** What is in the way of handing in what is in a workspace. */
  problems(workspace: Workspace, saved: Saved): Promise<string[]>;
  /** Refuses a workspace whose settings the member's own agent must not obey. */
  require(workspace: Workspace): Promise<void>;
  /** A person agrees to all settings and programs in a workspace as they are now. Returns their paths. */
  trust(workspace: Workspace): Promise<string[]>;
}

interface Options {
  readonly ledger: Ledger;
  readonly requirePlace: (teamId: string) => Promise<TeamPlace>;
  readonly approvals: Approvals | undefined;
}

/** Looks after the settings of agents in all workspaces of this daemon. */
export function openWorkSettings({ ledger, requirePlace, approvals }: Options): WorkSettings {
  return {
    async problems(workspace, saved) {
      const { team, member } = workspace.name;
      const help = `nobody agreed to it: put it back as it was, or ask a person for troupe work trust ${member} --team ${team}`;
      const settings = await strangeIn(workspace, OBEYED);
      const programs = await strangePrograms(workspace, saved);
      return [
        ...settings.map(({ path }) => `${path} tells agents what to run without asking, and ${help}`),
        ...programs.map(({ path }) => `${path} decides what a program of the team does, and ${help}`),
      ];
    },
    async require(workspace) {
      const { team, member } = workspace.name;
      const names = await ledger.view(team, (state) => {
        const { agent } = requireMember(state, member);
        return (agent && findAgent(catalogNameOf(agent))?.obeys) ?? [];
      });
      const found = await strangeIn(workspace, names);
      if (found.length === 0) return;
      throw new TeamError(
        'conflict',
        `${found.map(({ path }) => path).join(', ')} in ${workspace.folder} tells its agent what to run without asking, and you have not agreed to it. ` +
          `Look at it. Then allow it with: troupe work trust ${member} --team ${team}, or put it back as it was`,
      );
    },
    async trust(workspace) {
      const saved = await workspace.save();
      const programs = saved ? await strangePrograms(workspace, saved) : [];
      const found = [...(await strangeIn(workspace, OBEYED)), ...programs];
      for (const { path, hash } of found) approvals?.add(hash, `settings: ${path}`);
      return found.map(({ path }) => path);
    },
  };

  async function strangeIn(workspace: Workspace, names: readonly string[]): Promise<Strange[]> {
    const { name, folder } = workspace;
    if (names.length === 0) return [];
    const inside = folderInWorkspace(folder, (await requirePlace(name.team)).work);
    const files = [folder, inside].flatMap((one) => names.map((file) => join(one, file)));
    return keepStrange(workspace, new Set(files));
  }

  /**
   * Programs of the repository that members run: the approval of the team file was for their content. Only what a save
   * has can reach others; what a build made, and git ignores, is not meant.
   */
  async function strangePrograms(workspace: Workspace, { changes }: Saved): Promise<Strange[]> {
    const { name, folder } = workspace;
    const changed = new Set(changes.map(({ path }) => join(folder, path)));
    if (changed.size === 0) return [];
    const cwd = folderInWorkspace(folder, (await requirePlace(name.team)).work);
    const agents = await ledger.view(name.team, agentsApart);
    const run = agents.flatMap(({ command = [], args = [] }) => [
      ...filesRunBy([...command, ...args], { cwd, folder }),
    ]);
    return keepStrange(workspace, new Set(run.filter((file) => changed.has(file))));
  }

  /** Those of some files in a workspace that differ from the base and the checkout, and that nobody agreed to. */
  async function keepStrange({ name, folder, base }: Workspace, files: Iterable<string>): Promise<Strange[]> {
    const { depot, work, checkout } = await requirePlace(name.team);
    const strange: Strange[] = [];
    for (const file of files) {
      const path = relative(folder, file);
      const content = partOf(path, contentOf(file));
      if (content === undefined || partOf(path, contentOf(join(checkout.folder, path)))?.equals(content)) continue;
      // The project, wherever its checkout is now.
      const hash = hashAll(['settings', depot.id, digestFiles(new Map([[path, content]]))]);
      if (approvals?.has(hash)) continue;
      // The branch has only what passed this.
      const known = ['cat-file', 'blob', `${base ?? work.base}:${path}`];
      const { code, out } = await depot.handle.run(known, { exits: [0, 128] });
      if (code !== 0 || !partOf(path, out)?.equals(content)) strange.push({ path, hash });
    }
    return strange;
  }
}

/** A file that nobody agreed to, and the hash of its content. */
interface Strange {
  readonly path: string;
  readonly hash: string;
}

/** What runs members in workspaces of their own, and members that a lead may start. */
function agentsApart({ members, team }: TeamState): AgentSpec[] {
  const own = [...members.values()].flatMap(({ agent, workspace }) => (agent && workspace === 'own' ? agent : []));
  return [...own, ...Object.values(team?.agents ?? {})];
}

/** Of a package only the scripts decide what runs; the rest changes with the work. */
function partOf(file: string, content: Buffer | undefined): Buffer | undefined {
  if (content === undefined || basename(file) !== 'package.json') return content;
  return Buffer.from(scriptsOf(content) ?? '');
}

/** A longer file is not read: it never counts as one that a person knows. Bytes. */
const LONGEST = 1024 * 1024;

function contentOf(file: string): Buffer | undefined {
  try {
    const facts = statSync(file);
    if (!facts.isFile()) return undefined;
    return facts.size > LONGEST ? Buffer.from(`${facts.size} bytes`) : readFileSync(file);
  } catch {
    return undefined;
  }
}
