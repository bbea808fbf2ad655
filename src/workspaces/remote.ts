import { TeamError } from '../core/errors.ts';
import { shellWord } from '../core/shell.ts';
import type { TeamRemote } from '../core/team-remote.ts';
import type { Checkout } from './checkout.ts';
import type { DepotHandle } from './depot/handle.ts';
import { settlePack } from './depot/packs.ts';
import { GitError } from './git-errors.ts';
import { FETCH, isId, requireId, splitLines } from './git.ts';
import type { Places } from './places.ts';
import { inDraft } from './remote/draft.ts';
import type { Draft } from './remote/draft.ts';
import { fetchLargeFiles, pushLargeFiles } from './remote/large-files.ts';
import { findWay } from './remote/settings.ts';
import type { ReachRun, WayToRemote } from './remote/settings.ts';
import { wordRefusal } from './remote/words.ts';
import type { ObjectId } from './workspace.ts';

/** A remote of a team, as a depot uses it. */
export interface DepotRemote {
  /**
   * Makes commits available there: each under a ref that its id names, and with the large files that it brings. A ref that
   * exists is never moved. Returns what could not go along, for people. Fails with `storage`.
   */
  push(commits: readonly ObjectId[], have: readonly ObjectId[]): Promise<string[]>;
  /**
   * Takes commits in by their ids, whatever refs name them there, whole or not at all. Returns what could not come
   * along. Fails with `not_found` if the remote does not have them, with `corrupt` if git refuses what it sends, and with
   * `storage` if it cannot be reached.
   */
  fetch(commits: readonly ObjectId[], options?: { readonly isFirst?: boolean }): Promise<string[]>;
  /** The commits that it has refs of the team for. Refs that are not as Troupe made them are left out. */
  list(): Promise<ObjectId[]>;
  /** Removes refs of the team that still name their commit. */
  remove(commits: readonly ObjectId[]): Promise<void>;
}

/** What a remote is opened with. */
export interface RemoteOptions {
  readonly handle: DepotHandle;
  readonly places: Places;
  readonly checkout: Checkout;
  readonly remote: TeamRemote;
  readonly team: string;
  /** The commit that the team began from: its `.lfsconfig` is the person's. */
  readonly base: ObjectId;
  /** Where git-lfs is looked for. */
  readonly path: string;
}

/** A command may take long for a large repository, but a server that hangs must not keep work for good. */
const REACH_MS = 30 * 60_000;

/** Refs to remove in one command. */
const AT_ONCE = 200;

/** What git must not do on its own account, whatever the server sends. */
const CAREFUL = [
  'fetch.fsckObjects=true',
  // Always as a pack, which is moved in whole.
  'fetch.unpackLimit=1',
  'fetch.writeCommitGraph=false',
  'push.followTags=false',
  'push.gpgSign=false',
  'credential.interactive=false',
];

/** Opens a remote for a depot. Nothing is reached before it is used. */
export function openRemote(options: RemoteOptions): DepotRemote {
  const { handle, places, checkout, remote, team, base, path } = options;
  const { git, dir } = handle;
  const { name } = remote;
  const refOf = (id: ObjectId): string => `refs/troupe/${team}/${requireId(id)}`;

  return {
    push: (commits, have) =>
      reach('push to', async (run, draft, way) => {
        const refs = commits.map((id) => `${requireId(id)}:${refOf(id)}`);
        const files = { handle, draft: draft.dir, name, base, path, run, settings: way.settings };
        // Before the commits: whoever finds one finds its large files.
        const missing = await pushLargeFiles(files, { want: commits, have });
        const words = ['--quiet', '--no-verify', '--recurse-submodules=no', ...at('receive-pack', way)];
        try {
          await run(['push', ...words, name, ...refs]);
        } catch (error) {
          // Another machine may have pushed the same commit at the same time.
          if (!(error instanceof GitError) || !error.complaint.includes('rejected]')) throw error;
          const there = await listRefs(run, way);
          if (!commits.every((id) => there.includes(id))) throw error;
        }
        return missing;
      }),
    fetch: (commits, { isFirst } = {}) =>
      reach('fetch from', async (run, draft, way) => {
        const ids = commits.map(requireId);
        const before = await handle.run(['for-each-ref', '--format=%(objectname)']);
        const words = [...FETCH, ...(isFirst ? ['--depth=1'] : []), ...at('upload-pack', way)];
        await run([...words, name, ...ids]);
        await settlePack({ handle, objects: draft.objects }, { want: ids, isFirst });
        const have = isFirst ? [] : splitLines(before.out);
        const files = { handle, draft: draft.dir, name, base, path, run, settings: way.settings };
        return fetchLargeFiles(files, { want: ids, have });
      }),
    list: () => reach('read the refs of', (run, _draft, way) => listRefs(run, way)),
    async remove(commits) {
      for (let i = 0; i < commits.length; i += AT_ONCE) {
        const some = commits.slice(i, i + AT_ONCE);
        await reach('remove refs from', async (run, _draft, way) => {
          const leases = some.map((id) => `--force-with-lease=${refOf(id)}:${id}`);
          const words = ['--quiet', '--no-verify', ...at('receive-pack', way), ...leases, name];
          await run(['push', ...words, ...some.map((id) => `:${refOf(id)}`)]);
        });
      }
    },
  };

  async function listRefs(run: ReachRun, way: WayToRemote): Promise<ObjectId[]> {
    const pattern = `refs/troupe/${team}/*`;
    const { out } = await run(['ls-remote', '--quiet', '--refs', ...at('upload-pack', way), name, pattern]);
    return splitLines(out).flatMap((line) => {
      const [id = '', ref = ''] = line.split('\t');
      return isId(id) && ref === refOf(id) ? id : [];
    });
  }

  /** Does something in a repository apart, with git as the user reaches the remote. */
  async function reach<R>(
    what: string,
    work: (run: ReachRun, draft: Draft, way: WayToRemote) => Promise<R>,
  ): Promise<R> {
    try {
      return await inDraft({ dir, format: checkout.format, places }, async (draft) => {
        const way = await findWay(git, { checkout, remote, neutral: draft.dir });
        const run: ReachRun = (args, { config = [], settings = [], ...more } = {}) =>
          git.reach(draft.dir, args, {
            timeoutMs: REACH_MS,
            ...more,
            settings: [...way.settings, ...settings],
            config: [...CAREFUL, ...config],
            variables: { ...draft.variables },
          });
        return work(run, draft, way);
      });
    } catch (error) {
      if (!(error instanceof TeamError) || error.facts?.errno !== undefined) throw error;
      const { code, said } = error instanceof GitError ? wordRefusal(error) : { code: error.code, said: error.message };
      throw new TeamError(code, `Cannot ${what} ${name}: ${said}`, { cause: error });
    }
  }
}

/** Which program serves a repository on this disk. */
function at(program: 'upload-pack' | 'receive-pack', { programs }: WayToRemote): string[] {
  if (programs.length === 0) return [];
  return [`--${program}=${['git', ...programs.flatMap((setting) => ['-c', shellWord(setting)]), program].join(' ')}`];
}
