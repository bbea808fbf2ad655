import type { ErrorCode } from '../../core/errors.ts';
import { oneLine } from '../../core/text.ts';
import type { GitError } from '../git-errors.ts';

/** What a remote or git says if something has a name. */
const KNOWN: readonly { readonly sign: RegExp; readonly code: ErrorCode; readonly advice: string }[] = [
  {
    sign: /not our ref|couldn't find remote ref|unadvertised object|no such ref|did not send all necessary objects/i,
    code: 'not_found',
    advice: 'it does not have the commit',
  },
  {
    // This machine does not have them either.
    sign: /shallow update not allowed/,
    code: 'not_found',
    advice: 'it lacks the commits before this work',
  },
  {
    sign: /fsck error|in pack objects|invalid index-pack output|index-pack failed|bad pack|hash mismatch|COLLISION/i,
    code: 'corrupt',
    advice: 'git refuses what it sends',
  },
  {
    sign: /could not read (?:Username|Password)|Authentication failed|Permission denied \(|terminal prompts disabled/i,
    code: 'storage',
    advice: 'git has no credentials that work without a question: set up a credential helper or an SSH key',
  },
  {
    sign: /non-fast-forward|\[(?:remote )?rejected\]|fetch first|stale info/i,
    code: 'storage',
    advice: 'it refuses the ref',
  },
];

/** Lines that are about the ones before or after them. */
const IDLE =
  /^(?:hint:|fatal: the remote end hung up|error: failed to push|error: unable to read askpass|To |Please make sure|and the repository exists)/;

/** Why a command that reaches a remote failed, for people. No address in it has a password. */
export function wordRefusal(error: GitError): { readonly code: ErrorCode; readonly said: string } {
  const { complaint } = error;
  const lines = complaint
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !IDLE.test(line));
  const known = KNOWN.find(({ sign }) => sign.test(complaint));
  const quoted = lines.map((line) => line.replace(/:\/\/[^@/\s']*@/g, '://').replace(/^(?:fatal|error): /, ''));
  const shown = known ? (quoted.find((line) => known.sign.test(line)) ?? quoted[0]) : quoted.slice(0, 2).join('; ');
  const said = oneLine(shown || withoutFolder(error.message), 300);
  return known ? { code: known.code, said: `${known.advice} (${said})` } : { code: 'storage', said };
}

/** A command that printed nothing, such as one that was stopped after its time. */
function withoutFolder(message: string): string {
  return message.replace(/ in \/\S*?(?=:?\s)/, '');
}
