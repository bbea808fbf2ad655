import { TeamError } from '../../core/errors.ts';
import { readId, requireId } from '../git.ts';
import type { ObjectId } from '../workspace.ts';
import type { DepotHandle } from './handle.ts';

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
export async function makeCommit(
  { run }: DepotHandle,
  { tree, parents, message, trailers = [], author, committer = author, at }: NewCommit,
): Promise<ObjectId> {
  const date = `@${Math.floor(at / 1000)} +0000`;
  const lines = trailers.map(([name, value]) => `${name}: ${oneLine(value)}`);
  const text = `${message.trim()}\n${lines.length > 0 ? `\n${lines.join('\n')}\n` : ''}`;
  const words = ['commit-tree', requireId(tree), ...parents.flatMap((parent) => ['-p', requireId(parent)])];
  const variables = {
    GIT_AUTHOR_NAME: identityText(author.name, 'author'),
    GIT_AUTHOR_EMAIL: identityText(author.email, ''),
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: identityText(committer.name, 'committer'),
    GIT_COMMITTER_EMAIL: identityText(committer.email, ''),
    GIT_COMMITTER_DATE: date,
  };
  if (text.includes('\0')) throw new TeamError('invalid', 'The message of a commit cannot contain a zero byte');
  return readId(await run(words, { input: text, variables }));
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
