import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '../../../client/client.ts';
import { Replica } from '../../../client/replica.ts';
import type { Batch, TeamState } from '../../../client/replica.ts';
import { writePackage } from '../../../runtime/team-package.ts';
import { readVersion } from '../../../runtime/version.ts';
import { gitAt } from '../../reach/git.ts';
import { Refusal } from '../../show/errors.ts';

/** A team as bytes for another machine, and what is in it. */
export interface Packed {
  readonly bytes: Buffer;
  readonly batches: number;
  /** The branch that travels with it. */
  readonly branch: string | undefined;
}

interface Options {
  readonly teamId: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly tell: (text: string) => void;
}

/** Work may land while the team is read; then it is read again. */
const TRIES = 5;

/** Reads the whole journal of a team, with what landed up to its last batch. */
export async function packTeam(client: Client, options: Options): Promise<Packed> {
  const { teamId, signal } = options;
  for (let left = TRIES; left > 0; left--) {
    const replica = await readAll(client, options);
    const { team } = replica.live;
    if (team?.parent) {
      const { teamId: outer, memberId } = team.parent;
      throw new Refusal('conflict', `Team ${teamId} works for ${memberId} of team ${outer}, and cannot be without it`);
    }
    const work = landedOf(replica.live);
    const bundle = work ? await bundleOf(client, options, work) : Buffer.alloc(0);
    if (!bundle) continue;
    signal.throwIfAborted();
    const head = { team: teamId, troupe: readVersion(), exportedAt: Date.now(), ...(work && { work }) };
    const batches = replica.batches.map(({ events }) => events);
    return { bytes: writePackage({ head, batches, bundle }), batches: batches.length, branch: work?.branch };
  }
  throw new Refusal('overloaded', `Work of team ${teamId} lands faster than it can be read: try again in a moment`);
}

async function readAll(client: Client, { teamId, signal, tell }: Options): Promise<Replica> {
  const { seq } = await client.call('team.status', { teamId }, { signal });
  const replica = new Replica(teamId);
  while (replica.seq < seq) {
    const asked = { teamId, after: replica.seq, limit: Math.min(10_000, seq - replica.seq) };
    const page = await client.call('event.list', asked, { signal, onMore: () => undefined });
    if (page.length === 0) break;
    for (const batch of page as unknown as Batch[]) replica.apply(batch);
    tell(`reads event ${replica.seq} of ${seq}`);
  }
  return replica;
}

function landedOf({ team }: TeamState) {
  if (!team?.work) return undefined;
  const { branch, base, tip } = team.work;
  return { branch, base, tip };
}

/** What landed, for git; undefined if more has landed meanwhile. */
async function bundleOf(
  client: Client,
  { teamId, environment, signal }: Options,
  { branch, base, tip }: { readonly branch: string; readonly base: string; readonly tip: string },
): Promise<Buffer | undefined> {
  if (base === tip) return Buffer.alloc(0);
  const { depot = '' } = await client.call('work.show', { teamId }, { signal });
  const git = gitAt(depot, environment);
  const ref = `refs/heads/${branch}`;
  if (git(['rev-parse', '--verify', '--quiet', ref]).out !== tip) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'troupe-export-'));
  try {
    const file = join(folder, 'bundle');
    const made = git(['bundle', 'create', '--quiet', file, `^${base}`, ref]);
    if (made.code !== 0) {
      throw new Refusal('conflict', `git could not pack the branch ${branch}. It said:\n${made.said}`);
    }
    const isSame = git(['bundle', 'list-heads', file]).out.startsWith(tip);
    return isSame ? readFileSync(file) : undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
