import type { TaskRecord } from '../../core/state.ts';
import { cutToBytes, quote } from '../../core/text.ts';
import type { HandedIn } from '../../core/work.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Depot } from '../../workspaces/depot.ts';
import type { MergeConflict } from '../../workspaces/depot/merge.ts';

/** The most of conflicting lines that a holder gets to read, in bytes: the files have all of them. */
const HUNK_BYTES = 8 * 1024;

/** A larger file is not searched for its conflicting lines. */
const FILE_BYTES = 1024 * 1024;

/** How many files the text names. */
const NAMED = 20;

const HOW =
  'Both sides are in your folder now. In a file with markers, the lines after <<<<<<< are what landed, those after ||||||| are what ' +
  'both began from, and those after ======= are yours. Bring both together, remove the markers, and complete the task again. You need no git.';

const BESIDE = 'git put one of them beside it under a name with "~": move it where it belongs, or delete it';

/** What of one file a merge leaves open, in words. The kinds are git's. Of `contents` the markers say it. */
const KINDS: Readonly<Record<string, string>> = {
  'modify/delete': 'one side changed it, the other deleted it: keep it or delete it',
  binary: 'it is binary: your folder has what landed',
  'file/directory': `one side has a file there, the other a folder: ${BESIDE}`,
  'distinct modes': `the sides have different kinds of file there, such as a file and a link: ${BESIDE}`,
  'rename/rename': 'both sides renamed the same file, to different names: keep one of the names, and delete the other',
  'rename/delete': 'one side renamed it, the other deleted it: keep it or delete it',
  'rename involved in collision': 'both sides put a file there, one of them by a rename: make one file of both',
  'directory rename suggested': 'it was added to a folder that the other side renamed: move it if it belongs there',
  'directory rename unclear split': 'its folder was split into several by the other side: move it where it belongs',
  'file in way of directory rename':
    'the other side renamed its folder, and there is such a file already: name it differently',
  'directory rename collision':
    'the other side renamed its folder, and several files would get this name: name them differently',
};

/** There are several kinds, and all ask for the same. */
const SUBMODULE =
  'both sides changed the submodule: your folder cannot change it, so ask your lead which commit it should have';

/** Tells the holder of a work what conflicts, and with whom. */
export async function explainConflict(
  depot: Depot,
  { work, landed, branch }: { work: HandedIn; landed: readonly TaskRecord[]; branch: string },
): Promise<string> {
  // Work of another machine is here as its pack brought it.
  const { tree, conflicts } = await depot.merge(work.onto, work.pack?.commit ?? work.commit, { base: work.base });
  const files = conflicts.slice(0, NAMED).map((conflict) => wordFile(conflict, landed));
  const more = conflicts.length > NAMED ? [`- and ${conflicts.length - NAMED} more`] : [];
  const hunks = await readHunks(depot, tree, conflicts);
  const many = conflicts.length === 1 ? '1 file conflicts' : `${conflicts.length} files conflict`;
  return [
    `The work does not merge onto ${branch}: ${many} with work that landed after this work began.`,
    ...files,
    ...more,
    HOW,
    ...(hunks === '' ? [] : [hunks]),
  ].join('\n');
}

function wordFile({ path, kinds }: MergeConflict, landed: readonly TaskRecord[]): string {
  const others = landed.filter(({ work }) => work?.paths?.includes(path));
  const whose = others.map(({ id, title, work }) => `task #${id} ${quote(title)} of ${work?.memberId}`).join(', ');
  const how = kinds.flatMap((kind) => (kind.startsWith('submodule') ? SUBMODULE : (KINDS[kind] ?? [])));
  return [`- ${path}`, ...(whose === '' ? [] : [`changed by ${whose}`]), ...how].join('; ');
}

/** The tasks that landed on a tip after a commit, oldest first, as far as the journal still names their commits. */
export async function landedSince(
  { ledger, depot }: { readonly ledger: Ledger; readonly depot: Depot },
  teamId: string,
  { base, onto }: Pick<HandedIn, 'base' | 'onto'>,
): Promise<TaskRecord[]> {
  // Git knows: a person may have added commits in between.
  const { out } = await depot.handle.run(['rev-list', '--reverse', '--topo-order', onto, `^${base}`]);
  const byCommit = await ledger.view(teamId, ({ tasks }) => {
    const landed = [...tasks.values()].filter(({ work }) => work?.state === 'landed');
    return new Map(landed.map((task) => [task.work?.merged, task]));
  });
  return out
    .toString('latin1')
    .split('\n')
    .flatMap((commit) => byCommit.get(commit) ?? []);
}

/** The lines between the markers of all conflicting files, within bounds. */
async function readHunks(depot: Depot, tree: string, conflicts: readonly MergeConflict[]): Promise<string> {
  let text = '';
  for (const { path } of conflicts) {
    const content = await depot.file(tree, path, FILE_BYTES);
    for (const hunk of content === undefined ? [] : hunksIn(content)) {
      text += `\n${path}, line ${hunk.line}:\n${hunk.text}\n`;
      if (Buffer.byteLength(text) > HUNK_BYTES) {
        return `${cutToBytes(text, HUNK_BYTES)}\n… The files have the rest.`;
      }
    }
  }
  return text;
}

function hunksIn(content: string): { line: number; text: string }[] {
  const lines = content.split('\n');
  const hunks: { line: number; text: string }[] = [];
  let start: number | undefined;
  for (const [i, line] of lines.entries()) {
    if (start === undefined && line.startsWith('<<<<<<< ')) start = i;
    if (start === undefined || !line.startsWith('>>>>>>> ')) continue;
    hunks.push({ line: start + 1, text: lines.slice(start, i + 1).join('\n') });
    start = undefined;
  }
  return hunks;
}
