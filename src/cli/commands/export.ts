import { readVersion } from '../../runtime/version.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { openClient } from '../reach/connect.ts';
import { UsageError } from '../show/errors.ts';
import { clean, fold } from '../show/text.ts';
import { print, toJson, warnPeople } from '../show/write.ts';
import { packTeam } from './export/journal.ts';
import { readTemplate, writePage } from './export/page.ts';
import { readRecord } from './export/read-record.ts';
import type { RecordSummary } from './export/read-record.ts';
import { openSource } from './export/source.ts';
import { requireFree, STDOUT, writeWhole } from './export/write-file.ts';

interface Given {
  readonly teamId: string;
  readonly file?: string;
  readonly transcripts?: boolean;
  readonly journal?: boolean;
  readonly force?: boolean;
}

/** How often a person hears how far it is. */
const TELL_MS = 2_000;

/** Writes a team's past into one file that any browser opens: the dashboard with a record inside. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { journal = false, ...asked } = given.input as unknown as Given;
  const { teamId, transcripts = false, force = false } = asked;
  const { file = `${teamId}.${journal ? 'troupe' : 'html'}` } = asked;
  if (journal && transcripts) {
    throw new UsageError('A journal has no transcripts: leave out --journal or --transcripts', 'export');
  }
  if (journal) return exportJournal({ teamId, file, force }, given, { environment, screen, signal });
  const template = readTemplate();
  requireFree(file, force);
  const client = openClient(environment);
  try {
    const tell = nowAndThen();
    const at = Date.now();
    const version = readVersion();
    // A refusal in the daemon's own words, if there is no such team.
    await client.call('team.show', { teamId }, { signal });
    const open = (id: string) => openSource(client, { teamId: id, signal, tell });
    const { record, summary } = await readRecord(open, { teamId, transcripts });
    const bytes = writePage(template, { teamId, at, version, hasTranscripts: transcripts }, record);
    writeWhole(file, bytes, { force });
    if (file === STDOUT) return 0;
    if (given.json) {
      const told = { team: teamId, file, bytes: bytes.length, transcripts, ...summary };
      print(toJson(told, screen.isTerminal ? 2 : undefined));
    } else print(fold(wordSummary(file, bytes.length, summary), screen));
    return 0;
  } finally {
    client.close();
  }
}

/** Writes a team's journal, for `troupe import` on another machine. */
async function exportJournal(
  { teamId, file, force }: { readonly teamId: string; readonly file: string; readonly force: boolean },
  { json }: Arguments,
  { environment, screen, signal }: Omit<Surroundings, 'commands'>,
): Promise<number> {
  requireFree(file, force);
  const client = openClient(environment);
  try {
    const { bytes, batches, branch } = await packTeam(client, { teamId, environment, signal, tell: nowAndThen() });
    // It has everything that the team's record has, nothing redacted.
    writeWhole(file, bytes, { force, secret: true });
    if (file === STDOUT) return 0;
    const told = { team: teamId, file, bytes: bytes.length, batches, ...(branch !== undefined && { branch }) };
    if (json) print(toJson(told, screen.isTerminal ? 2 : undefined));
    else {
      const landed = branch === undefined ? '' : ` and its branch ${clean(branch)}`;
      print(
        fold(
          `Wrote ${clean(file)}: ${count(batches, 'batch', 'batches')} of team ${teamId}${landed}. On the other machine: troupe import FILE\n`,
          screen,
        ),
      );
    }
    return 0;
  } finally {
    client.close();
  }
}

function wordSummary(file: string, bytes: number, { tasks, messages, diffs, filesLeftOut }: RecordSummary): string {
  const size = `${(bytes / 1024 / 1024).toFixed(1)} MB`;
  const has = [count(tasks, 'task'), count(messages, 'message'), count(diffs, 'difference')].join(', ');
  const left =
    filesLeftOut === 0
      ? ''
      : ` The lines of ${count(filesLeftOut, 'changed file')} are left out, because they are too long.`;
  return `Wrote ${clean(file)} (${size}): ${has}.${left} Open it with a browser; it needs no daemon and no network.\n`;
}

function count(number: number, what: string, many = `${what}s`): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? what : many}`;
}

function nowAndThen(): (text: string) => void {
  let next = Date.now() + TELL_MS;
  return (text) => {
    if (Date.now() < next) return;
    next = Date.now() + TELL_MS;
    warnPeople(`troupe: ${text}\n`);
  };
}
