import { ChevronDown, ChevronRight } from 'lucide-react';
import { memo } from 'react';
import type { Change, FileLines, Hunk } from '../data/diff-store.ts';
import { filePath } from '../data/links.ts';
import { showControls } from '../parts/controls.ts';
import { CopyLink } from '../parts/copy-link.tsx';
import { plural } from '../parts/format.ts';
import { IconButton } from '../parts/icon-button.tsx';
import { record } from '../record/head.ts';
import { Code, LONG_LINE } from './code.tsx';
import type { Token } from './code.tsx';
import { CommentButton } from './comment-button.tsx';
import { ChangeIcon, Counts, modeWords } from './file-words.tsx';
import type { Line, Note } from './rows.ts';

/** The head of a file: what happened to it, and a button that folds it. */
export function FileHead({ change, isFolded, onFold }: { change: Change; isFolded: boolean; onFold: () => void }) {
  const mode = modeWords(change);
  return (
    <div className="diff-file">
      <IconButton
        className="small"
        aria-expanded={!isFolded}
        label={`${isFolded ? 'Unfold' : 'Fold'} ${showControls(change.path)}`}
        onClick={onFold}
      >
        {isFolded ? <ChevronRight size={16} aria-hidden /> : <ChevronDown size={16} aria-hidden />}
      </IconButton>
      <ChangeIcon change={change} />
      <h2 className="diff-path">
        {change.previous !== undefined && (
          <>
            <bdi className="quiet">{showControls(change.previous)}</bdi> <span className="quiet">→</span>{' '}
          </>
        )}
        <bdi>{showControls(change.path)}</bdi>
      </h2>
      {mode !== '' && <span className="badge">{mode}</span>}
      <span className="spacer" />
      <CopyLink path={() => filePath(change.path)} what="this file" className="small" />
      <Counts added={change.added} removed={change.removed} />
    </div>
  );
}

/** Where lines begin, and what is above them. */
export function HunkHead({ hunk: { oldStart, newStart, heading } }: { hunk: Hunk }) {
  return (
    <div className="diff-hunk">
      <span className="diff-hunk-place">
        @@ −{oldStart} +{newStart} @@
      </span>{' '}
      {showControls(heading)}
    </div>
  );
}

/** What a row of lines gets besides its lines. */
interface Look {
  /** Whether a long line is shown as far as it is here. */
  readonly isWhole: boolean;
  readonly id: string;
  readonly onWhole: (id: string) => void;
}

const KINDS = { '+': ' is-added', '-': ' is-removed', ' ': '' } as const;
const SIGNS = { '+': '+', '-': '−', ' ': ' ' } as const;

/** One line, with both of its numbers. */
export const LineRow = memo(function LineRow({
  path,
  line,
  tokens,
  ...look
}: Look & { path: string; line: Line; tokens: readonly Token[] | undefined }) {
  return (
    <div className={`diff-line${KINDS[line.sign]}`}>
      <span className="diff-no diff-old">{line.old}</span>
      <span className="diff-no">{line.fresh}</span>
      <span className="diff-sign">{SIGNS[line.sign]}</span>
      <Text line={line} tokens={tokens} {...look} />
      <CommentButton path={path} line={line} />
    </div>
  );
});

/** Before and after side by side. */
export const PairRow = memo(function PairRow({
  path,
  left,
  right,
  leftTokens,
  rightTokens,
  ...look
}: Look & {
  path: string;
  left: Line | undefined;
  right: Line | undefined;
  leftTokens: readonly Token[] | undefined;
  rightTokens: readonly Token[] | undefined;
}) {
  return (
    <div className="diff-pair">
      {/* A line that did not change is commented on where it is now. */}
      <Half path={left?.sign === '-' ? path : undefined} line={left} no={left?.old} tokens={leftTokens} {...look} />
      <Half path={path} line={right} no={right?.fresh} tokens={rightTokens} {...look} />
    </div>
  );
});

function Half({
  path,
  line,
  no,
  ...rest
}: Look & {
  /** Undefined if this side has no button for comments. */
  path: string | undefined;
  line: Line | undefined;
  no: number | undefined;
  tokens: readonly Token[] | undefined;
}) {
  if (!line) return <div className="diff-half is-none" />;
  return (
    <div className={`diff-half${KINDS[line.sign]}`}>
      <span className="diff-no">{no}</span>
      <span className="diff-sign">{SIGNS[line.sign]}</span>
      <Text line={line} {...rest} />
      {path !== undefined && <CommentButton path={path} line={line} />}
    </div>
  );
}

function Text({ line, tokens, isWhole, id, onWhole }: Look & { line: Line; tokens: readonly Token[] | undefined }) {
  const rest = line.text.length - LONG_LINE;
  const untold = (line.length ?? line.text.length) - line.text.length;
  return (
    <code className="diff-text">
      <Code line={line} tokens={tokens} isWhole={isWhole} />
      {rest > 0 && !isWhole && (
        <button type="button" className="diff-more" onClick={() => onWhole(id)}>
          {plural(rest + untold, 'more character')}
        </button>
      )}
      {untold > 0 && isWhole && <span className="diff-mark">{plural(untold, 'more character')} not shown</span>}
    </code>
  );
}

/** Lines that are not here yet. */
export function WaitRow({ lines, height }: { lines: number; height: number }) {
  return (
    <div className="diff-wait" style={{ height }}>
      <span role="status">Reading {plural(lines, 'line')}</span>
    </div>
  );
}

const NOTES: Readonly<Record<Note, readonly [text: string, verb?: string]>> = {
  binary: ['This file is binary.', 'Show it as text'],
  large: ['This file is large.', 'Show it'],
  long: ['', 'Show them'],
  'too-large': ['This file is too large to be shown here. Merge the branch to look at it.'],
  failed: ['', 'Try again'],
  same: ['No line of it changed.'],
};

/** Why a file has no lines here, and a button that shows them. */
export function NoteRow({
  note,
  change: { added = 0, removed = 0 },
  lines: { failure, phase },
  onShow,
}: {
  note: Note;
  change: Change;
  lines: FileLines;
  onShow: () => void;
}) {
  const [text, verb] = NOTES[note];
  // A binary file that was asked for and still has no lines has none.
  const isAbsent = record !== undefined && note !== 'long' && verb !== undefined;
  const hasVerb = verb !== undefined && !isAbsent && !(note === 'binary' && phase === 'ready');
  return (
    <div className="diff-note">
      {note === 'long' && `${plural(added + removed, 'line')} of this file changed.`}
      {note === 'failed' && (record ? failure?.message : `${failure?.message} (${failure?.code})`)}
      {text} {isAbsent && note !== 'failed' && 'Its lines are not in this record.'}
      {hasVerb && (
        <button type="button" className="button small" onClick={onShow}>
          {verb}
        </button>
      )}
    </div>
  );
}
