import { readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { AGENTS, findAgent } from '../../agents/catalog.ts';
import type { AgentRow } from '../../agents/row.ts';
import { catalogNameOf } from '../../core/agent.ts';
import { TeamError } from '../../core/errors.ts';
import { folderInWorkspace } from '../../core/folder.ts';
import { requireMember } from '../../core/view.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Workspace } from '../../workspaces/workspace.ts';
import { digestFiles, hashAll } from '../hooks/approvals.ts';
import type { Approvals } from '../hooks/approvals.ts';
import type { TeamPlace } from './team-places.ts';

/** Every file of a checkout by which some agent runs programs without asking. */
const OBEYED = [...new Set((Object.values(AGENTS) as AgentRow[]).flatMap(({ obeys = [] }) => obeys))];

/**
 * Settings of agents in workspaces. An agent that writes such a file gives its next session, and with the branch every
 * other member, programs to run that no person has agreed to. Claude Code takes them up even in a running session. So
 * they must be as the base or the user's checkout has them, or as a person agreed to.
 */
export interface WorkSettings {
  /** What is in the way of handing in what is in a workspace. */
  problems(workspace: Workspace): Promise<string[]>;
  /** Refuses a workspace whose settings the member's own agent must not obey. */
  require(workspace: Workspace): Promise<void>;
  /** A person agrees to all settings in a workspace as they are now. Returns their paths. */
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
    async problems(workspace) {
      const { member } = workspace.name;
      const found = await strangeIn(workspace, OBEYED);
      return found.map(
        ({ path }) =>
          `${path} tells agents what to run without asking, and nobody agreed to it: put it back as it was, or ask a person for troupe work trust ${member}`,
      );
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
          `Look at it. Then allow it with: troupe work trust ${member}, or put it back as it was`,
      );
    },
    async trust(workspace) {
      const found = await strangeIn(workspace, OBEYED);
      for (const { path, hash } of found) approvals?.add(hash, `settings: ${path}`);
      return found.map(({ path }) => path);
    },
  };

  async function strangeIn(
    workspace: Workspace,
    names: readonly string[],
  ): Promise<{ readonly path: string; readonly hash: string }[]> {
    const { name, folder, base } = workspace;
    if (names.length === 0) return [];
    const { depot, work, checkout } = await requirePlace(name.team);
    const inside = folderInWorkspace(folder, work);
    const paths = new Set([folder, inside].flatMap((one) => names.map((file) => relative(folder, join(one, file)))));
    const strange: { path: string; hash: string }[] = [];
    for (const path of paths) {
      const content = contentOf(join(folder, path));
      if (content === undefined || contentOf(join(checkout.folder, path))?.equals(content)) continue;
      const hash = hashAll(['settings', work.repository, digestFiles(new Map([[path, content]]))]);
      if (approvals?.has(hash)) continue;
      // The branch has only what passed this.
      const { code, out } = await depot.handle.run(['cat-file', 'blob', `${base ?? work.base}:${path}`], {
        exits: [0, 128],
      });
      if (code !== 0 || !out.equals(content)) strange.push({ path, hash });
    }
    return strange;
  }
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
