import { Pencil } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { editComment, endComment, isSame, takeOpened, useDraft, writeComment } from '../data/review-drafts.ts';
import type { LineComment, LineName, Reviewed, ReviewDraft } from '../data/review-drafts.ts';
import { showControls } from '../parts/controls.ts';
import { IconButton } from '../parts/icon-button.tsx';
import { RemoveComment, wordLine } from '../queue/comment-list.tsx';
import { useReviewing } from './reviewing.ts';

/** The comments on the lines of a row, and the box in which one is written. */
export function LineComments({ names }: { names: readonly LineName[] }) {
  const work = useReviewing();
  const draft = useDraft(work);
  if (!work || !draft) return null;
  return names.map((name) => <OnLine key={`${name.side} ${name.line}`} name={name} work={work} draft={draft} />);
}

function OnLine({ name, work, draft }: { name: LineName; work: Reviewed; draft: ReviewDraft }) {
  const { comments, writing } = draft;
  const own = comments.filter((comment) => isSame(comment, name));
  const isWriting = writing !== undefined && isSame(writing, name);
  if (own.length === 0 && !isWriting) return null;
  return (
    <div className={`diff-comments is-${name.side}`}>
      {own.map((comment, i) => (
        <Comment key={i} comment={comment} work={work} />
      ))}
      {isWriting && <Box work={work} writing={writing} />}
    </div>
  );
}

function Comment({ comment, work }: { comment: LineComment; work: Reviewed }) {
  return (
    <div className="diff-comment">
      <p className="text">{showControls(comment.text)}</p>
      <IconButton
        className="small"
        label={`Change the comment on ${wordLine(comment)}`}
        title="Change it"
        onClick={() => editComment(work, comment)}
      >
        <Pencil size={14} aria-hidden />
      </IconButton>
      <RemoveComment work={work} comment={comment} />
    </div>
  );
}

function Box({ work, writing }: { work: Reviewed; writing: LineComment }) {
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (takeOpened()) box.current?.focus();
  }, []);
  const toLine = (): void =>
    box.current
      ?.closest('.diff-row')
      ?.querySelector<HTMLElement>(`.diff-comment-on[data-side=${writing.side}]`)
      ?.focus({ preventScroll: true });
  const end = (keep: boolean): void => {
    toLine();
    endComment(work, keep);
  };
  const isEmpty = writing.text.trim() === '';
  return (
    <div className="diff-comment is-writing">
      <textarea
        className="input"
        ref={box}
        aria-label={`Comment on ${wordLine(writing)}`}
        value={writing.text}
        onChange={(event) => writeComment(work, event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) end(true);
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          // What was written stays.
          if (isEmpty) end(false);
          else toLine();
        }}
      />
      <div className="row">
        <button type="button" className="button primary small" disabled={isEmpty} onClick={() => end(true)}>
          Keep comment
        </button>
        <button type="button" className="button small" onClick={() => end(false)}>
          {isEmpty ? 'Cancel' : 'Discard'}
        </button>
        <span className="meta diff-comment-keys">
          <kbd>Ctrl Enter</kbd> keeps it. Nothing is sent before you answer.
        </span>
      </div>
    </div>
  );
}
