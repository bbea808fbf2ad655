import { TeamError } from '../../core/errors.ts';
import { readId, requireId } from '../git.ts';
import type { ObjectId } from '../workspace.ts';
import type { DepotHandle } from './handle.ts';
import { writeLooseCommit } from './loose.ts';

/** Who made a commit. */
export interface Identity {
  readonly name: string;
  readonly email: string;
}

/** A commit to make. */
export interface NewCommit {
  readonly tree: ObjectId;
  readonly parents: readonly ObjectId[];
  /** The subject, and the body after an empty line. */
  readonly message: string;
  /** Lines at the end, such as `Task-Id`. A value is one line. */
  readonly trailers?: readonly (readonly [name: string, value: string])[];
  readonly author: Identity;
  /** The author, if it is nobody else. */
  readonly committer?: Identity;
  /** Milliseconds. The same commit at the same time has the same id. */
  readonly at: number;
}

/** Makes a commit. It is durable, but a ref has to keep it. */
export async function makeCommit({ run }: DepotHandle, commit: NewCommit): Promise<ObjectId> {
  const { tree, parents, author, committer = author, at } = commit;
  const date = `@${secondsOf(at)} +0000`;
  const words = ['commit-tree', requireId(tree), ...parents.flatMap((parent) => ['-p', requireId(parent)])];
  const variables = {
    GIT_AUTHOR_NAME: identityText(author.name, 'author'),
    GIT_AUTHOR_EMAIL: identityText(author.email, ''),
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: identityText(committer.name, 'committer'),
    GIT_COMMITTER_EMAIL: identityText(committer.email, ''),
    GIT_COMMITTER_DATE: date,
  };
  return readId(await run(words, { input: messageOf(commit), variables }));
}

/**
 * Makes the same commit without git, which would look whether the tree and the parents exist: only for a caller that has
 * just done so. It is durable, but a ref has to keep it.
 */
export async function writeCommit({ dir }: DepotHandle, commit: NewCommit): Promise<ObjectId> {
  const { tree, parents, author, committer = author, at } = commit;
  const lines = [
    `tree ${requireId(tree)}`,
    ...parents.map((parent) => `parent ${requireId(parent)}`),
    ...identityLines({ author, committer, at }),
  ];
  const format = tree.length === 64 ? 'sha256' : 'sha1';
  return writeLooseCommit(dir, { body: `${lines.join('\n')}\n\n${messageOf(commit)}`, format });
}

/**
 * The head of a commit in a stream for `git fast-import`, up to where its files follow. They change the first parent's.
 * The commit has the mark `:1`.
 */
export function importHead(ref: string, commit: Omit<NewCommit, 'tree'>): string {
  const { parents, author, committer = author, at } = commit;
  const [from = '', ...merged] = parents.map(requireId);
  const message = messageOf(commit);
  const lines = [
    `commit ${ref}`,
    'mark :1',
    ...identityLines({ author, committer, at }),
    `data ${Buffer.byteLength(message)}`,
    `${message}from ${from}`,
    ...merged.map((parent) => `merge ${parent}`),
  ];
  return `${lines.join('\n')}\n`;
}

function identityLines({ author, committer, at }: { author: Identity; committer: Identity; at: number }): string[] {
  const when = `${secondsOf(at)} +0000`;
  return [
    `author ${identityText(author.name, 'author')} <${identityText(author.email, '')}> ${when}`,
    `committer ${identityText(committer.name, 'committer')} <${identityText(committer.email, '')}> ${when}`,
  ];
}

function secondsOf(at: number): number {
  return Math.floor(at / 1000);
}

function messageOf({ message, trailers = [] }: Omit<NewCommit, 'tree'>): string {
  const lines = trailers.map(([name, value]) => `${name}: ${oneLine(value)}`);
  const text = `${message.trim()}\n${lines.length > 0 ? `\n${lines.join('\n')}\n` : ''}`;
  if (text.includes('\0')) throw new TeamError('invalid', 'The message of a commit cannot contain a zero byte');
  return text;
}

/** What git would cut out of an identity; what is left must not be empty. */
function identityText(text: string, fallback: string): string {
  return (
    oneLine(text)
      .replaceAll(/[<>\0]/g, '')
      .trim() || fallback
  );
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
