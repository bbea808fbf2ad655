import { FilePen } from 'lucide-react';
import { useState } from 'react';
import { showControls } from '../parts/controls.ts';
import type { EditLine, FileEdit } from './edits.ts';

/** More lines of one file are shown on demand. */
const SHOWN = 200;

/** What a tool changed, as lines that went and lines that came. */
export function EditView({ edits }: { edits: readonly FileEdit[] }) {
  return (
    <div className="edits">
      {edits.map((edit, i) => (
        <FileView key={i} edit={edit} />
      ))}
    </div>
  );
}

/** How many lines were added and removed. */
export function EditCounts({ edits }: { edits: readonly FileEdit[] }) {
  const count = (wanted: EditLine['sign']): number =>
    edits.reduce((sum, { lines }) => sum + lines.filter(({ sign }) => sign === wanted).length, 0);
  return (
    <span className="edit-counts">
      <span className="is-added">+{count('+')}</span> <span className="is-removed">−{count('-')}</span>
    </span>
  );
}

function FileView({ edit: { path, lines } }: { edit: FileEdit }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? lines : lines.slice(0, SHOWN);
  return (
    <figure className="edit">
      <figcaption>
        <FilePen size={13} aria-hidden /> <span className="mono text">{showControls(path)}</span>
      </figcaption>
      <pre className="edit-lines">
        {shown.map((line, i) => (
          <EditLineView key={i} line={line} />
        ))}
      </pre>
      {shown.length < lines.length && (
        <button type="button" className="button ghost small" onClick={() => setWhole(true)}>
          Show {lines.length - shown.length} more lines
        </button>
      )}
    </figure>
  );
}

const WORDS = { '+': 'added', '-': 'removed', ' ': '', '…': '' } as const;

function EditLineView({ line: { sign, text } }: { line: EditLine }) {
  const name = sign === '+' ? 'is-added' : sign === '-' ? 'is-removed' : sign === '…' ? 'is-gap' : '';
  return (
    <span className={`edit-line ${name}`}>
      <span className="edit-sign" aria-label={WORDS[sign] || undefined} role={WORDS[sign] ? 'img' : undefined}>
        {sign === '-' ? '−' : sign === '…' ? '⋯' : sign}
      </span>
      {showControls(text)}
      {'\n'}
    </span>
  );
}
