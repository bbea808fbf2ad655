import { Archive } from 'lucide-react';
import type { RecordHead } from '../../src/client/record.ts';
import { showMoment } from '../parts/format.ts';
import './record.css';

/** What this page is, above all that it shows. */
export function RecordLine({ record: { teamId, at, version, hasTranscripts } }: { record: RecordHead }) {
  return (
    <p className="record-line" role="note">
      <Archive size={14} aria-hidden />
      <span>
        Record of team <b>{teamId}</b>, exported {showMoment(at)} by Troupe {version}.{' '}
        <span className="quiet">
          It no longer changes. Secrets are redacted{hasTranscripts ? '' : ', and transcripts are left out'}.
        </span>
      </span>
    </p>
  );
}
