import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { TeamError } from '../core/errors.ts';
import { shellQuote } from '../core/shell.ts';
import { fileAddress, OWN_ADDRESS, pathInAddress } from '../journal/file-address.ts';
import { replacePrivateFile } from './private-file.ts';

/** The journal of the last daemon of a state directory, and that daemon's name and labels. */
export interface LastJournal {
  /** Its address, without credentials. */
  readonly journal: string;
  readonly name?: string;
  readonly labels: readonly string[];
  /** Credentials must be given at every start: none are stored here. */
  readonly needsCredential: boolean;
}

/** The file in a state directory that names the journal of its last daemon. */
export const lastJournalOf = (directory: string): string => join(directory, 'last-journal');

/**
 * The journal to use if none is named. A daemon started by a command gets no flag, and in the state directory's own
 * journal it would show no teams, or old ones. Undefined means the own one. Throws if only a person can start there
 * again.
 */
export function recallJournal(file: string): LastJournal | undefined {
  const last = readLast(file);
  if (last.journal === OWN_ADDRESS) return undefined;
  const missing = pathInAddress(last.journal);
  if (!last.needsCredential && (missing === undefined || existsSync(missing))) return last;
  const why = last.needsCredential ? 'and its credential is missing' : 'which no longer exists';
  throw new TeamError(
    'conflict',
    `The last daemon here kept its teams in ${last.journal}, ${why}. To start it there again: ` +
      `troupe serve --journal ${shellQuote(last.journal)}${last.needsCredential ? ' (with its credentials; for every start, set TROUPE_JOURNAL or journal in config.yaml)' : ''}. ` +
      BACK_HOME,
  );
}

/** The way back for people who no longer want that journal. */
const BACK_HOME = `For the journal in the state directory: troupe serve --journal ${OWN_ADDRESS}`;

/** Why a journal that nobody named this time could not be opened, and why it was tried. */
export function whereLast({ journal }: LastJournal, error: unknown): unknown {
  if (!(error instanceof TeamError)) return error;
  const message = `${error.message} (the last daemon here kept its teams in ${journal}, and no other journal is set. ${BACK_HOME})`;
  return new TeamError(error.code, message, { cause: error });
}

/** What to remember of a daemon; `again` is an address that opens its journal without a credential, if there is one. */
interface Kept {
  readonly location: string;
  /** It outlives its daemon. */
  readonly lasts: boolean;
  readonly isOwn: boolean;
  readonly again?: string;
  readonly name?: string | undefined;
  readonly labels?: readonly string[] | undefined;
}

/** Remembers the present journal; `location` has no password in it. A journal in memory is not remembered. */
export function rememberJournal(file: string, { location, lasts, isOwn, again, name, labels = [] }: Kept): void {
  if (!lasts) return;
  const text = isOwn
    ? `${OWN_ADDRESS}\n`
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

/** Refuses an empty file that used to hold teams: it would look like a new one, as if they had never existed. */
export function requireKept(file: string, { path, isOwn }: { path: string; isOwn: boolean }): void {
  const isLast = readText(file) !== '' && readLast(file).journal === (isOwn ? OWN_ADDRESS : fileAddress(path));
  if (!isLast || statSync(path, { throwIfNoEntry: false })?.size !== 0) return;
  throw new TeamError(
    'corrupt',
    `${path} is empty, though the last daemon here kept its teams in it. Restore it from a copy, or remove it to start over`,
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
    journal: readLine(journal) || OWN_ADDRESS,
    ...(name !== undefined && { name }),
    labels: after(LABEL),
    needsCredential: lines.includes(CREDENTIAL),
  };
}

/** A path may contain a newline, or begin or end with a space. */
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
