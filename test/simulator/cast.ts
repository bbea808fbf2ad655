import type { Version } from './native/claude-files.ts';

/** The name of the team. */
export const TEAM = 'crew';

/** The commit that its branch begins with. */
export const BASE = '1'.repeat(40);

/** What a run is made of; the seed draws it. */
export interface Cast {
  readonly machines: number;
  readonly members: number;
  readonly tasks: number;
  /** In workspaces of their own, with a merge queue. */
  readonly apart: boolean;
  /** The journal is the real one, on SQLite. */
  readonly isInFile?: boolean;
  /** The journal is the real one, on simulated NATS servers of this version. */
  readonly nats?: string;
  /** The team is joined to one of Claude Code's, of this version. */
  readonly native?: Version;
}
