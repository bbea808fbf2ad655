import { resolve } from 'node:path';
import type { AgentSpec } from '../../core/agent.ts';
import type { Path } from '../yaml-problems.ts';
import { specIn } from './agents.ts';
import type { TeamFile } from './schema.ts';

/** An agent that a file starts from the beginning. */
export interface FileAgent {
  readonly spec: AgentSpec;
  readonly cwd: string;
  /** Its entry in the file, and the position. */
  readonly entry: Exclude<TeamFile['lead'], string | undefined> | TeamFile['members'][number];
  readonly path: Path;
  /** Of an agent that only stands in: where the file names it. */
  readonly place?: Path;
}

/** The folder of a member: the file's, unless its entry names another, relative to it. */
export function folderIn(folder: string, entry: { readonly cwd?: string | undefined } | undefined): string {
  return resolve(folder, entry?.cwd ?? '.');
}

/** The agents that a file starts from the beginning, and their folders. */
export function agentsOf(file: TeamFile, folder: string): FileAgent[] {
  const lead = typeof file.lead === 'object' ? [{ entry: file.lead, path: ['lead'] as Path }] : [];
  return [...lead, ...file.members.map((entry, at) => ({ entry, path: ['members', at] }))].map(({ entry, path }) => ({
    spec: specIn(file, entry),
    cwd: folderIn(folder, entry),
    entry,
    path,
  }));
}
