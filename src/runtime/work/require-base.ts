import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { findAgent } from '../../agents/catalog.ts';
import { catalogNameOf } from '../../core/agent-kinds.ts';
import { shortId } from '../../core/commit-id.ts';
import { TeamError } from '../../core/errors.ts';
import { joinSome } from '../../core/text.ts';
import { isWithin, scriptsOf } from '../hooks/hook-files.ts';
import { startedOf } from '../team-file/fallbacks.ts';
import { realPath } from '../team-file/place.ts';
import type { TeamFile } from '../team-file/schema.ts';
import type { WorkPlan } from './plan.ts';

/** A program of a file, and the files that decide what it does. */
interface Program {
  readonly command: string;
  readonly files: readonly string[];
}

/** What members begin from. */
interface Begun {
  readonly base: string;
  /** Whether the base has the uncommitted files of the checkout, except those that were left out. */
  readonly withChanges: boolean;
  readonly leftOut: readonly string[];
  readonly programs: readonly Program[];
  /** Files of the team's folder that its agents obey, whether they exist or not. */
  readonly obeyed: readonly string[];
}

/**
 * Refuses programs of the file that members and gates would not find in their workspaces, or would find in another
 * version than the one that was approved: that is the one in the checkout.
 */
export async function requireCommitted(
  { project, prefix, uncommitted }: Extract<WorkPlan, { workspaces: 'own' }>,
  { base, withChanges, leftOut, programs, obeyed }: Begun,
): Promise<void> {
  const { checkout, depot } = project;
  const changed = new Set(withChanges ? leftOut : uncommitted);
  const approved = withChanges ? base : checkout.head;
  const wrong = new Set<string>();
  for (const { command, files } of programs) {
    // By its absolute path, it runs in the checkout.
    for (const file of files.filter((one) => isWithin(checkout.folder, realPath(one)) && !command.includes(one))) {
      // What a link leads to, and the link itself.
      const named = relative(checkout.folder, join(realPath(dirname(file)), basename(file)));
      for (const path of new Set([relative(checkout.folder, realPath(file)), named])) {
        if (!(await isSame(path))) wrong.add(path);
      }
    }
  }
  // Those that the checkout lacks were in no question, so another base must not bring them.
  for (const path of base === approved ? [] : obeyed.map((name) => join(prefix, name))) {
    if ((await entryOf(base, path)) !== '' && !(await isSame(path))) wrong.add(path);
  }
  if (wrong.size === 0) return;
  const [is, it] = wrong.size === 1 ? ['is', 'it'] : ['are', 'them'];
  const names = joinSome([...wrong], ', ');
  const help =
    base === approved
      ? `commit ${it}, take all uncommitted files along with troupe up --with-changes`
      : `check out that commit, so that you approve ${it} as members get ${it}`;
  throw new TeamError(
    'conflict',
    `Members work in workspaces made from commit ${shortId(base)}, where ${names} ${is} missing or different: ${help}, ` +
      'or write work: { workspaces: shared } into the team file',
  );

  async function isSame(path: string): Promise<boolean> {
    const entry = await entryOf(base, path);
    if (entry === '') return false;
    if (!changed.has(path) && entry === (await entryOf(approved, path))) return true;
    // Of a package only the scripts are approved.
    if (basename(path) !== 'package.json') return false;
    const text = await depot.file(base, path, PACKAGE_BYTES);
    return text !== undefined && scriptsOf(Buffer.from(text)) === scriptsIn(join(checkout.folder, path));
  }

  /** The mode and the content of a file in a commit; empty if there is none. */
  async function entryOf(commit: string, path: string): Promise<string> {
    return (await depot.handle.run(['ls-tree', '-z', commit, '--', path])).out.toString();
  }
}

const PACKAGE_BYTES = 1024 * 1024;

function scriptsIn(path: string): string | undefined {
  try {
    return scriptsOf(readFileSync(path));
  } catch {
    return undefined;
  }
}

/** The files that the agents of a team file obey. */
export function obeyedBy(file: TeamFile, folder: string): string[] {
  return [...new Set(startedOf(file, folder).flatMap(({ spec }) => findAgent(catalogNameOf(spec))?.obeys ?? []))];
}
