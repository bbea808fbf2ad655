import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { TeamError } from '../core/errors.ts';
import { shellQuote } from '../core/shell.ts';
import { replacePrivateFile } from './private-file.ts';

/** Where the last daemon of a state directory kept its teams, and as whom. */
export interface LastJournal {
  /** Its address, without what belongs to a credential. */
  readonly journal: string;
  readonly name?: string;
  readonly labels: readonly string[];
  /** A credential is given anew each time: nothing of it is kept here. */
  readonly needsCredential: boolean;
}

/** The file in a state directory that says where its last daemon kept its teams. */
export const lastJournalOf = (directory: string): string => join(directory, 'last-journal');

/** Where the teams of a state directory are when nobody says anything. */
const OWN = 'sqlite';

/**
 * The journal to begin with when nobody names one: the daemon that a command starts gets no flag, and in the state directory's own it would
 * show no teams, or old ones. Undefined for the own. Refuses where only a person can begin there again.
 */
export function recallJournal(file: string): LastJournal | undefined {
  const last = readLast(file);
  if (last.journal === OWN) return undefined;
  const missing = fileOf(last.journal);
  if (!last.needsCredential && (missing === undefined || existsSync(missing))) return last;
  const why = last.needsCredential ? 'and nobody gives the credential for it' : 'which is not there any more';
  throw new TeamError(
    'conflict',
    `The last daemon here kept its teams in ${last.journal}, ${why}. Start it there again: ` +
      `troupe serve --journal ${shellQuote(last.journal)}${last.needsCredential ? ' (with its credentials; for every start, set TROUPE_JOURNAL or journal in config.yaml)' : ''}. ` +
      BACK_HOME,
  );
}

/** The way out for who wants nothing to do with that place any more. */
const BACK_HOME = 'For the journal in the state directory: troupe serve --journal sqlite';

/** Why the place that nobody named this time could not be opened, with why it was tried at all. */
export function whereLast({ journal }: LastJournal, error: unknown): unknown {
  if (!(error instanceof TeamError)) return error;
  const message = `${error.message} (the last daemon here kept its teams in ${journal}, and now nobody names another place. ${BACK_HOME})`;
  return new TeamError(error.code, message, { cause: error });
}

/** What of a daemon is to be kept; `again` opens its journal without a credential, where that is possible. */
interface Kept {
  readonly location: string;
  /** It outlives its daemon. */
  readonly lasts: boolean;
  readonly isOwn: boolean;
  readonly again?: string;
  readonly name?: string | undefined;
  readonly labels?: readonly string[] | undefined;
}

/** Keeps where teams are now; `location` has no password in it. What is only in memory is gone, and nobody asks for it. */
export function rememberJournal(file: string, { location, lasts, isOwn, again, name, labels = [] }: Kept): void {
  if (!lasts) return;
  const text = isOwn
    ? `${OWN}\n`
    : [
        writeLine(again ?? location),
        ...(again === undefined ? [CREDENTIAL] : []),
        ...(name === undefined ? [] : [`${NAME}${name}`]),
        ...labels.map((label) => `${LABEL}${label}`),
      ]
        .map((line) => `${line}\n`)
        .join('');
  if (text !== readText(file)) replacePrivateFile(file, text);
}

/** Refuses a file that holds nothing though teams were kept in it: it would pass for a new one, and they for never made. */
export function requireKept(file: string, { path, isOwn }: { path: string; isOwn: boolean }): void {
  const isLast = readText(file) !== '' && readLast(file).journal === (isOwn ? OWN : `sqlite:${path}`);
  if (!isLast || statSync(path, { throwIfNoEntry: false })?.size !== 0) return;
  throw new TeamError(
    'corrupt',
    `${path} is empty, though the last daemon here kept its teams in it. Put a copy of it back, or remove it to begin anew`,
  );
}

const CREDENTIAL = 'credential';
const NAME = 'name ';
const LABEL = 'label ';

function readLast(file: string): LastJournal {
  const [journal = '', ...lines] = readText(file).trim().split('\n');
  const after = (prefix: string): string[] =>
    lines.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length));
  const [name] = after(NAME);
  return {
    journal: readLine(journal) || OWN,
    ...(name !== undefined && { name }),
    labels: after(LABEL),
    needsCredential: lines.includes(CREDENTIAL),
  };
}

/** A path may have a line's end in it, or a space at its own. */
function writeLine(text: string): string {
  return /[\r\n]|^\s|\s$/.test(text) ? JSON.stringify(text) : text;
}

function readLine(line: string): string {
  try {
    return line.startsWith('"') ? (JSON.parse(line) as string) : line;
  } catch {
    return line;
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function fileOf(journal: string): string | undefined {
  return journal.startsWith('sqlite:') ? journal.slice('sqlite:'.length) : undefined;
}
