import { requireId, splitLines } from '../git.ts';
import type { KeptWork, ObjectId, Save, WorkspaceName } from '../workspace.ts';
import { importHead, makeCommit, writeCommit } from './commit.ts';
import { compare } from './compare.ts';
import type { DepotHandle, Import } from './handle.ts';
import { areLoose } from './loose.ts';

/** The address marks a commit as a save of ours; no mail ever goes there. */
const EMAIL = 'saves@troupe.invalid';
/** The same for work that travels between machines. */
export const TRAVEL_EMAIL = 'works@troupe.invalid';

/** The ref that keeps all saves of a workspace: the last one, whose first parents are the ones before. */
export function savesRef({ team, member }: WorkspaceName): string {
  return `refs/saves/${team}/${member}`;
}

/**
 * Where saves are that a restore went back behind, or whose folder went on without them from the same base. Each ref keeps
 * one save with all before it.
 */
function earlierRefs({ team, member }: WorkspaceName): string {
  return `refs/earlier/${team}/${member}`;
}

/**
 * Keeps a save by a ref of its own, before its folder goes on without it from the same base. Of the saves from one base,
 * only the last one counts when a workspace is closed. In a folder of Troupe's own it is nobody's work.
 */
export async function leaveSave(handle: DepotHandle, name: WorkspaceName, { commit, base }: Save): Promise<void> {
  if (commit === base || name.member.startsWith('@')) return;
  await handle.changeRefs([{ ref: `${earlierRefs(name)}/${commit}`, to: commit }]);
}

/** A save to make. */
export interface NewSave {
  readonly name: WorkspaceName;
  readonly tree: ObjectId;
  readonly base: ObjectId;
  readonly last: Save | undefined;
  /** The save of an older base whose work goes on in this one. */
  readonly carries?: ObjectId | undefined;
  readonly at: number;
}

/**
 * Commits a tree and moves the ref, durably. Parents are the save before and the base. So one ref keeps all saves, and
 * the base is the merge base of the save and every tip that has it. After a restore to an older base that would not be
 * so: with the later saves as ancestors, a merge would undo what landed since. So the saves begin again from the base,
 * and a ref of their own keeps the ones before.
 */
export async function makeSave(handle: DepotHandle, { name, tree, base, last, carries, at }: NewSave): Promise<Save> {
  const goesOn = last !== undefined && (await isAncestor(handle, last.base, base));
  const ref = savesRef(name);
  const made = { tree, parents: goesOn ? [last.commit, base] : [base], ...describe(name, base, carries), at };
  const save = (commit: ObjectId): Save => ({ commit, tree, base, at: wholeSecond(at) });
  // The caller has just compared the tree with the base.
  if (last?.base === base && areLoose(handle.dir, [tree, last.commit])) {
    const commit = await writeCommit(handle, made);
    await handle.advanceRef({ ref, to: commit, from: last.commit });
    return save(commit);
  }
  const commit = await makeCommit(handle, made);
  await handle.changeRefs([
    { ref, to: commit, from: last?.commit ?? '' },
    ...(last && !goesOn ? [{ ref: `${earlierRefs(name)}/${last.commit}`, to: last.commit }] : []),
  ]);
  return save(commit);
}

/**
 * Makes a save that follows another from the same base, as `makeSave` does, from what changed in between. `files` are
 * commands of `git fast-import`, which writes everything, trees as well. One process, one pack, durable.
 */
export async function importSave(importing: Import, { name, last, at, files }: ImportedSave): Promise<Save> {
  const { base } = last;
  const ref = savesRef(name);
  const head = importHead(ref, { parents: [last.commit, base], ...describe(name, base), at });
  const stream = Buffer.concat([Buffer.from(head), ...files, Buffer.from('\nget-mark :1\nls :1 ""\n')]);
  const printed = await importing.commit(stream, ref);
  const [, commit = '', tree = ''] = /^(\w+)\n040000 tree (\w+)\t\n$/.exec(printed) ?? [];
  return { commit: requireId(commit), tree: requireId(tree), base, at: wholeSecond(at) };
}

/** A save for `importSave`. */
interface ImportedSave {
  readonly name: WorkspaceName;
  readonly last: Save;
  readonly at: number;
  readonly files: readonly Buffer[];
}

function describe({ team, member }: WorkspaceName, base: ObjectId, carries?: ObjectId) {
  const message = `Save of ${team}/${member}\n\nBase: ${base}${carries === undefined ? '' : `\nCarries: ${carries}`}`;
  return { message, author: { name: member, email: EMAIL } };
}

/** Git keeps no parts of a second. */
function wholeSecond(at: number): number {
  return Math.floor(at / 1000) * 1000;
}

/** The saves behind a ref or a commit, newest first; none if the ref does not exist. `until`: none that is later. */
export async function listSaves({ run }: DepotHandle, from: string, limit = 1000, until?: number): Promise<Save[]> {
  const format = '--format=%H %T %ct %ce%n%b%x00';
  const words = ['rev-list', '--first-parent', `--max-count=${limit}`, '--no-commit-header', format];
  if (until !== undefined) words.push(`--until=${Math.floor(until / 1000)}`);
  // Git names a ref that does not exist as ambiguous, and prints nothing.
  const { out } = await run([...words, '--end-of-options', from, '--'], { exits: [0, 128] });
  const saves: Save[] = [];
  for (const entry of out.toString().split('\0')) {
    const [, commit = '', tree = '', at = '', email = '', body = ''] =
      /^\s*(\w+) (\w+) (\d+) (\S*)\n([^]*)$/.exec(entry) ?? [];
    const base = /^Base: ([0-9a-f]+)$/m.exec(body)?.[1];
    // The first parent of the first save is a commit of the project.
    if (email !== EMAIL || base === undefined) break;
    const carries = /^Carries: ([0-9a-f]+)$/m.exec(body)?.[1];
    saves.push({ commit, tree, base, at: Number(at) * 1000, ...(carries !== undefined && { carries }) });
  }
  return saves;
}

/** Whether a commit is among those before another, or the same. */
export async function isAncestor({ askLasting }: DepotHandle, older: ObjectId, newer: ObjectId): Promise<boolean> {
  if (older === newer) return true;
  const words = ['merge-base', '--is-ancestor', requireId(older), requireId(newer)];
  return (await askLasting(words, { exits: [0, 1] })).code === 0;
}

/** The refs that keep saves of a workspace besides the last ones, with what they name. */
export async function listEarlier(
  { run }: DepotHandle,
  name: WorkspaceName,
): Promise<{ readonly ref: string; readonly commit: ObjectId }[]> {
  const { out } = await run(['for-each-ref', '--format=%(refname) %(objectname)', `${earlierRefs(name)}/`]);
  return splitLines(out).map((line) => {
    const [ref = '', commit = ''] = line.split(' ');
    return { ref, commit };
  });
}

/** All saves of a workspace, newest first, also those that a restore went back behind. */
export async function listAllSaves(handle: DepotHandle, name: WorkspaceName, limit?: number): Promise<Save[]> {
  const ends = [savesRef(name), ...(await listEarlier(handle, name)).map(({ commit }) => commit)];
  const lists = await Promise.all(ends.map((end) => listSaves(handle, end, limit)));
  const all = new Map(lists.flat().map((save) => [save.commit, save]));
  return [...all.values()].sort((a, b) => b.at - a.at).slice(0, limit);
}

/** Whether a commit is work of a team: a save of a member, or what came from another machine on top of the branch. */
export async function isWorkOf(
  { run }: DepotHandle,
  commit: ObjectId,
  { team, branch }: { readonly team: string; readonly branch: ReadonlySet<ObjectId> },
): Promise<boolean> {
  const { out } = await run(['cat-file', 'commit', requireId(commit)], { exits: [0, 128] });
  const text = out.toString();
  const [head = ''] = text.split('\n\n', 1);
  if (head.includes(` <${EMAIL}> `)) return text.startsWith(`\n\nSave of ${team}/`, head.length);
  const parents = [...head.matchAll(/^parent (\w+)$/gm)].map(([, id = '']) => id);
  return head.includes(` <${TRAVEL_EMAIL}> `) && parents.every((id) => branch.has(id));
}

/** Whether a tip has everything that a save changed. Of a squash with later changes on top it cannot know. */
export async function isOnTip(handle: DepotHandle, save: Save, tip: ObjectId): Promise<boolean> {
  const [work, rest] = await Promise.all([
    compare(handle, [save.base, save.commit]),
    compare(handle, [save.commit, requireId(tip)]),
  ]);
  const differing = new Set(rest.map(({ path }) => path.toString('latin1')));
  return !work.some(({ path }) => differing.has(path.toString('latin1')));
}

/** Work that was put away, newest first. */
export async function listKept({ run }: DepotHandle): Promise<KeptWork[]> {
  const format = '--format=%(refname) %(objectname) %(tree) %(committerdate:unix) %(contents:body)%00';
  const { out } = await run(['for-each-ref', format, 'refs/kept']);
  const found = out
    .toString()
    .split('\0')
    .flatMap((entry) => {
      const [, ref = '', team = '', member = '', commit = '', tree = '', at, body = ''] =
        /^\s*(refs\/kept\/([^/\s]+)\/([^/\s]+)\/\S+) (\w+) (\w+) (\d+) ([^]*)$/.exec(entry) ?? [];
      const base = /^Base: ([0-9a-f]+)$/m.exec(body)?.[1];
      // Not one of ours, or the end of the list.
      if (base === undefined) return [];
      return [{ ref, team, member, commit, tree, base, at: Number(at) * 1000 }];
    });
  return found.sort((a, b) => b.at - a.at);
}
