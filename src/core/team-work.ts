import { z } from 'zod';
import { Line, Slug } from './fields.ts';
import { wrongPattern } from './file-patterns.ts';
import { HookVariable } from './hook.ts';
import { Sandbox } from './sandbox.ts';
import { TeamRemote } from './team-remote.ts';
import { quote } from './text.ts';

/** The id of a commit. Only git gives it a meaning; here it is a text. */
export const CommitId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, 'is not the id of a commit');

/** A command of the team file that makes a workspace ready, as a person approved it. */
export const TeamSetup = z.strictObject({
  command: z.string().min(1).max(8_192),
  /** Milliseconds until it is killed. */
  timeout: z.number().int().min(1),
  /** Names of variables that it may see. */
  env: z.array(HookVariable).max(32).optional(),
  /** Runs it apart from the rest of the machine. */
  sandbox: Sandbox.optional(),
  /** The folder that it was approved for, and the hash of what was approved. */
  folder: z.string().min(1).max(4_096),
  approved: z.string().max(128),
});
export type TeamSetup = z.output<typeof TeamSetup>;

/** Patterns of files, relative to the top of the repository. */
export const ApprovePaths = z
  .array(
    Line.min(1).superRefine((pattern, context) => {
      const wrong = wrongPattern(pattern);
      if (wrong !== undefined) context.addIssue({ code: 'custom', message: `${quote(pattern)} ${wrong}` });
    }),
  )
  .min(1)
  .max(64);

/** What may change while a team works. */
const Settings = {
  /** A command that makes a new workspace ready. */
  setup: TeamSetup.optional(),
  /** Ignored files of the checkout that a workspace gets, as gitignore patterns. */
  copy: z.array(Line.min(1)).max(64).optional(),
  /** What a work may hold, in bytes. */
  limits: z
    .strictObject({
      fileSize: z.number().int().min(1).optional(),
      workSize: z.number().int().min(1).optional(),
      /** Of all workspaces of the team on one machine. */
      disk: z.number().int().min(1).optional(),
    })
    .optional(),
  /** How many works are judged alone at once, while they wait for their landing. */
  gates: z.number().int().min(0).max(32).optional(),
  /** How work lands: as one commit, or as a merge commit with the work beside it. */
  history: z.enum(['squash', 'keep']).optional(),
  /** Which work a person has to approve before it lands: all, none, or what changes files that match. */
  approve: z.union([z.enum(['always', 'never']), z.strictObject({ paths: ApprovePaths })]).optional(),
  /** The member that reviews work before it lands. */
  review: Slug.optional(),
  /** The git remote by which work travels to other machines; without it, work travels in packs beside the journal. */
  remote: TeamRemote.optional(),
};
export type WorkSettings = z.output<z.ZodObject<typeof Settings>>;

/** How the members of a team work apart: in workspaces of their own, from one repository. */
export const TeamWork = z.strictObject({
  workspaces: z.literal('own'),
  /** The top folder of the user's checkout, on the machine that brought the team up. Others may have it elsewhere. */
  repository: z.string().min(1).max(4_096),
  /** The team's folder inside it; empty at the top. */
  prefix: z.string().max(4_096),
  /** The commit that the team began from. */
  base: CommitId,
  /**
   * The first commits of the base's history: all clones of the repository have them. A team has them if several machines
   * may run its members; then its work travels.
   */
  roots: z.array(CommitId).min(1).max(16).optional(),
  /** The branch on which work lands. It is in Troupe's own copy of the repository until a person merges it. */
  branch: Line.min(1),
  ...Settings,
});
export type TeamWork = z.output<typeof TeamWork>;

/** The settings of a team's work. */
export function settingsIn(work: TeamWork): WorkSettings {
  const isSet = (name: string): boolean => work[name as keyof WorkSettings] !== undefined;
  const names = Object.keys(Settings).filter(isSet) as (keyof WorkSettings)[];
  return Object.fromEntries(names.map((name) => [name, work[name]]));
}

/** The same work with other settings. Its beginning and its branch stay. */
export function withSettings(work: TeamWork, settings: WorkSettings): TeamWork {
  const { workspaces, repository, prefix, base, roots, branch } = work;
  return { workspaces, repository, prefix, base, ...(roots && { roots }), branch, ...settings };
}
