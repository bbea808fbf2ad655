import { RECORD_ELEMENT } from '../../src/client/record.ts';
import type { RecordHead } from '../../src/client/record.ts';

/** The element that holds the record, if this page is one: a file with a team's past, without a daemon. */
export const recordElement =
  typeof document === 'undefined' ? undefined : (document.getElementById(RECORD_ELEMENT) ?? undefined);

/** What this page is a record of; undefined if it is the dashboard of a daemon. */
export const record: RecordHead | undefined = recordElement && {
  teamId: recordElement.dataset['team'] ?? '',
  at: Number(recordElement.dataset['at'] ?? 0),
  version: recordElement.dataset['version'] ?? '',
  hasTranscripts: recordElement.dataset['transcripts'] === 'yes',
};
