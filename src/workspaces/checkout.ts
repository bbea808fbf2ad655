import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TeamError } from '../core/errors.ts';
import type { Git } from './git.ts';
import { readId, requireId } from './git.ts';
import type { ObjectId } from './workspace.ts';

/** The user's repository, as `troupe up` finds it. Nothing in it is changed but by `mergeIn`, when a person says so. */
export interface Checkout {
  /** Its top folder. */
  readonly folder: string;
  /** Its git directory; that of a linked worktree is its own. */
  readonly gitDir: string;
  /** The git directory that all linked worktrees share. */
  readonly commonDir: string;
  readonly head: ObjectId;
  /** The current branch; undefined if HEAD is detached. */
  readonly branch: string | undefined;
  readonly format: 'sha1' | 'sha256';
  readonly isShallow: boolean;
  readonly isPartial: boolean;
  /** Settings that change what is in a file or a tree, such as `core.autocrlf`. */
  readonly settings: readonly string[];
  /** Who commits here, by the user's settings; undefined if they do not say. */
  readonly person: { readonly name: string; readonly email: string } | undefined;
  /** What the user ignores besides `.gitignore`: patterns. */
  readonly ignored: string;
  /** This machine has no checkout: everything comes from other machines, and `folder` is empty. */
  readonly isAbsent?: boolean;
  /** The name of its depot, if that was made from another checkout. */
  readonly depot?: string;
}

/** Why there can be no workspaces of one's own. */
export interface NoCheckout {
  readonly reason: 'no-git' | 'old-git' | 'no-repository' | 'no-commit';
  /** For people. */
  readonly why: string;
}

/** Which settings of the user hold in the depot, too, and their values. Nothing here names a program. */
const SETTINGS = /^core\.(?:autocrlf|eol|filemode|symlinks)$/;
const VALUES = /^(?:true|false|input|lf|crlf|native)$/i;

/** Whether a checkout has all of these commits. */
export async function hasCommits(git: Git, { folder }: Checkout, ids: readonly ObjectId[]): Promise<boolean> {
  for (const id of ids) {
    const { code } = await git.ask(folder, ['cat-file', '-e', `${requireId(id)}^{commit}`], { exits: [0, 1, 128] });
    if (code !== 0) return false;
  }
  return true;
}

/** The branch that is checked out now; undefined if HEAD is detached. */
export async function branchIn(git: Git, { folder }: Pick<Checkout, 'folder'>): Promise<string | undefined> {
  const { out } = await git.ask(folder, ['symbolic-ref', '--quiet', '--short', 'HEAD'], { exits: [0, 1] });
  return out.toString().trim() || undefined;
}

/** Whether the checked-out commit has a commit in its history. */
export async function isMerged(git: Git, { folder }: Checkout, id: ObjectId): Promise<boolean> {
  // Exit code 128: the checkout does not have the commit at all.
  const words = ['merge-base', '--is-ancestor', requireId(id), 'HEAD'];
  const { code } = await git.ask(folder, words, { exits: [0, 1, 128] });
  return code === 0;
}

/** Finds the repository of a folder with the user's own settings, and says why if there is none to work with. */
export async function findCheckout(
  git: Git,
  folder: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Checkout | NoCheckout> {
  try {
    await git.version();
  } catch (error) {
    if (!(error instanceof TeamError) || error.code !== 'unsupported') throw error;
    return { reason: error.facts?.errno === undefined ? 'old-git' : 'no-git', why: error.message };
  }
  const asked = [
    '--show-toplevel',
    '--absolute-git-dir',
    '--git-common-dir',
    '--show-object-format',
    '--is-shallow-repository',
  ];
  const facts = await git.ask(folder, ['rev-parse', '--path-format=absolute', ...asked], { exits: [0, 128] });
  if (facts.code !== 0) {
    const isForeign = facts.err.includes('dubious ownership');
    const why = isForeign ? 'git refuses it, because it belongs to another user' : 'it is in no git repository';
    return { reason: 'no-repository', why: `${folder}: ${why}` };
  }
  const [top = '', gitDir = '', commonDir = '', format, isShallow, ...more] = facts.out
    .toString()
    .trimEnd()
    .split('\n');
  if (more.length > 0) return { reason: 'no-repository', why: `${folder}: a folder with a newline in its name` };
  const head = await git.ask(top, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], { exits: [0, 1] });
  if (head.code !== 0) return { reason: 'no-commit', why: `${top} has no commit yet` };
  const settings = await readSettings(git, top);
  const isNamed = settings.some(([key]) => key === 'core.excludesfile');
  return {
    folder: top,
    gitDir,
    commonDir,
    head: readId(head),
    branch: await branchIn(git, { folder: top }),
    format: format === 'sha256' ? 'sha256' : 'sha1',
    isShallow: isShallow === 'true',
    isPartial: settings.some(([key, value]) => isPromise(key, value)),
    settings: settings.flatMap(([key, value]) => (SETTINGS.test(key) && VALUES.test(value) ? `${key}=${value}` : [])),
    person: personIn(settings),
    ignored: await readIgnored(git, { top, commonDir, environment, isNamed }),
  };
}

/** Later settings win, as in git: those of the repository come after those of the user. */
function personIn(settings: readonly (readonly [string, string])[]): Checkout['person'] {
  const last = (key: string) => settings.findLast(([name]) => name === key)?.[1];
  const [name, email] = [last('user.name'), last('user.email')];
  return name && email ? { name, email } : undefined;
}

/** Whether a setting says that objects may be missing. */
function isPromise(key: string, value: string): boolean {
  return key === 'extensions.partialclone' || (/^remote\..*\.promisor$/.test(key) && value === 'true');
}

async function readSettings(git: Git, folder: string): Promise<[string, string][]> {
  const { out } = await git.ask(folder, ['config', '--list', '-z']);
  return out
    .toString()
    .split('\0')
    .map((entry) => {
      const end = entry.indexOf('\n');
      return end === -1 ? [entry, 'true'] : [entry.slice(0, end), entry.slice(end + 1)];
    });
}

interface Ignoring {
  readonly top: string;
  readonly commonDir: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether a setting names the user's own ignore file. */
  readonly isNamed: boolean;
}

/** The patterns of `.git/info/exclude` and of the user's own ignore file: what they hide is in no save either. */
async function readIgnored(git: Git, { top, commonDir, environment, isNamed }: Ignoring): Promise<string> {
  // Only git knows which folder `~ada` is.
  const asked = ['config', '--type=path', '--get', 'core.excludesFile'];
  const named = isNamed ? (await git.ask(top, asked, { exits: [0, 1] })).out.toString() : '';
  const config = environment['XDG_CONFIG_HOME'] || join(environment['HOME'] ?? '/', '.config');
  const own = named.replace(/\n$/, '') || join(config, 'git', 'ignore');
  const texts = await Promise.all([own, join(commonDir, 'info', 'exclude')].map(readPatterns));
  return texts.join('');
}

async function readPatterns(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
