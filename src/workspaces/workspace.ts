/** The id of a commit or a tree in a depot: 40 or 64 hexadecimal digits. */
export type ObjectId = string;

/** Which workspace: one per member of a team. `@landing` and the like are for Troupe itself. */
export interface WorkspaceName {
  readonly team: string;
  readonly member: string;
}

/** What a save may hold. A larger file is left out before it is read. Bytes. */
export interface WorkLimits {
  /** Of one file. */
  readonly fileSize: number;
  /** Of all files that differ from the base. */
  readonly workSize: number;
}

/** The limits, if a team names none. */
export const WORK_LIMITS: WorkLimits = { fileSize: 50 * 1024 * 1024, workSize: 200 * 1024 * 1024 };

/** Why something in a folder is in no save. */
export type LeftOutReason =
  /** The file is larger than `fileSize`. */
  | 'file-size'
  /** With this file the work would be larger than `workSize`. */
  | 'work-size'
  /** A repository inside the folder. */
  | 'nested-repository'
  /** A FIFO, a socket or a device. Git has no such thing. */
  | 'special-file'
  /** A name that git refuses, such as `.GIT`. */
  | 'name'
  /** The file cannot be read, or it changed while it was read. */
  | 'unreadable'
  /** It was copied from the checkout as an ignored file, and no rule hides it any more. */
  | 'copied'
  /** The project stores it through a filter that Troupe does not run, such as `lfs` without git-lfs. */
  | 'filter';

/** Something in a folder that is in no save. */
export interface LeftOut {
  readonly path: string;
  readonly reason: LeftOutReason;
  /** For people: the size, the name of the filter, what the system said. */
  readonly detail?: string;
}

/** Something in a folder that is in no save, and that nobody may have noticed. */
export type Unsaved =
  /** A newer rule of a `.gitignore` hides it. */
  | {
      readonly kind: 'ignored';
      /** A folder ends with a slash. */
      readonly path: string;
      /** The file with the rule, its line, and the rule. */
      readonly source: string;
      readonly line: number;
      readonly rule: string;
      /** Whether the base has the rule. Otherwise it is the member's own. */
      readonly isLanded: boolean;
    }
  /** A FIFO, a socket or a device. */
  | { readonly kind: 'special-file'; readonly path: string }
  /** A submodule whose folder has files. */
  | { readonly kind: 'submodule'; readonly path: string }
  /** A folder that the daemon may not or cannot look into. What an earlier save has of it stays as it was. */
  | { readonly kind: 'closed-folder'; readonly path: string };

/** How one path differs between two trees. */
export interface Change {
  /** Bytes that are no UTF-8 are written as git quotes them: see `paths.ts`. */
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted' | 'type-changed' | 'renamed';
  /** The path before a rename. */
  readonly from?: string;
}

/** A commit of what was in a folder. It is durable, and a ref keeps it, before anyone learns its id. */
export interface Save {
  readonly commit: ObjectId;
  readonly tree: ObjectId;
  /** The commit that the work began from. */
  readonly base: ObjectId;
  /** When it was made, in milliseconds. */
  readonly at: number;
  /** The save of an older base whose work goes on in this one, merged. */
  readonly carries?: ObjectId;
}

/** A save that was just made or found unchanged. */
export interface Saved extends Save {
  /** Whether the folder is as the previous save has it. Then this is that save. */
  readonly unchanged: boolean;
  /** Every path that differs from the base. */
  readonly changes: readonly Change[];
  /** What is in the folder and not in the save. Ignored files are not listed. */
  readonly leftOut: readonly LeftOut[];
}

/** Something that should not be handed in. */
export type Problem =
  | ({ readonly kind: 'left-out' } & LeftOut)
  /** The file still has conflict markers. */
  | { readonly kind: 'markers'; readonly path: string; readonly line: number }
  /** Git saves the file here, and refuses it on other machines and servers. */
  | { readonly kind: 'refused'; readonly path: string; readonly why: string }
  /** Names that are one file on macOS and Windows. */
  | { readonly kind: 'case'; readonly paths: readonly string[] };

/** How a workspace is opened. */
export interface OpenOptions {
  /** The commit that a new folder begins from. A folder that exists keeps its own base. */
  readonly base: ObjectId;
  /** Ignored files of the checkout that a new folder gets, as gitignore patterns; beside `.worktreeinclude`. */
  readonly copy?: readonly string[];
  readonly signal?: AbortSignal;
}

/** How a folder came about. */
export interface Opened {
  /** `again`: the folder was gone, and was made from its last save. */
  readonly how: 'new' | 'again' | 'found';
  /** Ignored files that were copied from the checkout. */
  readonly copied: readonly string[];
  /** Files that `copy` or `.worktreeinclude` name and that were not copied, with the reason. */
  readonly notCopied: readonly { readonly path: string; readonly reason: string }[];
  /** Submodules of the base. Their folders are empty, and changes in them are not saved. */
  readonly submodules: readonly string[];
}

/** What became of a folder that was closed. */
export interface Closed {
  /** The ref that keeps work that is not on the tip; undefined if there is none. */
  readonly kept?: KeptWork | undefined;
  /** Where the folder is until the trash is emptied; undefined if it stays in place. */
  readonly trash?: string | undefined;
}

/** Work that was put away and never landed. */
export interface KeptWork extends Save, WorkspaceName {
  /** Its name in the depot. */
  readonly ref: string;
}

/** How a folder is brought to another tree. */
export interface MoveOptions {
  /** Only if the folder is still as this save has it. Otherwise it stays, and the newer save is returned. */
  readonly ifSaved?: ObjectId;
  /** Hears which files that no save has were in the way: they go to the trash. Without it, the call is refused. */
  readonly onInTheWay?: (paths: readonly string[]) => void;
  readonly signal?: AbortSignal;
}

/**
 * The folder of one member. Calls for one workspace run one after the other. Every refusal is a `TeamError`:
 * - `storage`: the disk or git refused;
 * - `corrupt`: the depot is damaged;
 * - `conflict`: something in the folder is in the way;
 * - `not_found`: the commit does not exist.
 *
 * After a refusal the folder and its saves are as before. If the folder was
 * removed, or is a link or a file, the next call moves that away and makes the folder again from its last save.
 */
export interface Workspace {
  readonly name: WorkspaceName;
  readonly folder: string;
  readonly opened: Opened;
  /** The commit that the work in the folder began from; undefined if the folder is shared. */
  readonly base: ObjectId | undefined;

  /**
   * Commits what is in the folder, except ignored files. Needs nothing of the folder's `.git` and starts no program
   * that anything in the folder names. Undefined if the folder is shared: nothing is saved there.
   */
  save(signal?: AbortSignal): Promise<Saved | undefined>;

  /** The saves, newest first. */
  saves(limit?: number): Promise<readonly Save[]>;

  /** What is wrong with a save, before it is handed in. */
  review(save: Saved): Promise<readonly Problem[]>;

  /**
   * What is in the folder and in no save: files that rules newer than a commit ignore, pipes and sockets, files in
   * submodules. Looks at the whole folder, so it is for people and before work is handed in.
   */
  unsaved(since: ObjectId): Promise<readonly Unsaved[]>;

  /**
   * Saves, then brings the folder to a commit in place, which becomes the base. Ignored files stay. Refuses with
   * `conflict` if a file that is not saved is in the way. A shared folder stays as it is.
   */
  refresh(tip: ObjectId, moving?: MoveOptions): Promise<Saved | undefined>;

  /**
   * Saves, then brings the folder to a tree; later saves begin from `base`. This lays a merged tree with its conflict
   * markers into the folder. What the folder had goes on in that tree, so it is not kept as work of its own.
   */
  lay(tree: ObjectId, base: ObjectId, moving?: MoveOptions): Promise<Saved | undefined>;

  /**
   * Moves files that no save can hold to the trash, so that the next work begins without them; returns their paths. If the base has such a
   * file (it grew too large, or became a pipe), writes the base's. Copied files stay.
   */
  discard(leftOut: readonly LeftOut[]): Promise<readonly string[]>;

  /** Saves, then brings the folder back to an earlier save of this workspace. */
  restore(commit: ObjectId, signal?: AbortSignal): Promise<Saved | undefined>;

  /** Whether `setup` has to run: not yet, or with something else. The text says with what: the command, what it reads. */
  needsSetup(what: string): Promise<boolean>;
  /** Records that `setup` ran well with that. */
  setupDone(what: string): Promise<void>;
  /** Records that what `setup` made is about to change: it has to run, whatever it ran with before. */
  forgetSetup(): Promise<void>;

  /** The tasks that its files are of; undefined if that was never recorded. */
  readonly tasks: readonly string[] | undefined;
  /** Records them, durably. */
  workOn(tasks: readonly string[]): Promise<void>;

  /** The bytes on the disk that the folder takes. */
  size(): Promise<number>;

  /**
   * Saves, keeps by a ref what is not on the tip, and moves the folder to the trash. `landed` names saves that landed in
   * another form, such as a squash. Later calls fail.
   */
  close(options: { readonly tip: ObjectId; readonly landed?: readonly ObjectId[] }): Promise<Closed>;
}

/** Opens the folders in which members work. */
export interface Workspaces {
  readonly kind: 'clone' | 'shared';
  /** Opens a folder, whole or not at all. Many at once are fine, and two calls for one name give the same workspace. */
  open(name: WorkspaceName, options: OpenOptions): Promise<Workspace>;
  /** The workspaces that exist on disk. */
  list(): Promise<readonly WorkspaceName[]>;
}
