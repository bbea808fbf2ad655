import { MessageSquareText, Trash2 } from 'lucide-react';
import { collected, dismissLost, removeComment } from '../data/review-drafts.ts';
import type { LineComment, LineName, LostComments, Reviewed, ReviewDraft } from '../data/review-drafts.ts';
import { showControls } from '../parts/controls.ts';
import { plural } from '../parts/format.ts';
import { IconButton } from '../parts/icon-button.tsx';
import './comments.css';

/** A line in words: `src/a.ts:12`, and whether the work removed it. */
export function wordLine({ path, line, side }: LineName): string {
  return `${showControls(path)}:${line}${side === 'old' ? ' (removed)' : ''}`;
}

/** The button that removes a comment. */
export function RemoveComment({ work, comment }: { work: Reviewed; comment: LineComment }) {
  return (
    <IconButton
      className="small"
      label={`Remove the comment on ${wordLine(comment)}`}
      title="Remove it"
      onClick={() => removeComment(work, comment)}
    >
      <Trash2 size={14} aria-hidden />
    </IconButton>
  );
}

/** All comments that go with a no, each with a button that removes it. */
export function CommentList({
  work,
  draft,
  onShow,
}: {
  work: Reviewed;
  draft: ReviewDraft;
  /** Shows the line of a comment. */
  onShow?: ((comment: LineComment) => void) | undefined;
}) {
  const comments = collected(draft);
  if (comments.length === 0) return null;
  return (
    <section className="comment-list" aria-label="Your comments on lines">
      <span className="label">
        <MessageSquareText size={14} aria-hidden /> {plural(comments.length, 'comment')} on lines
      </span>
      <ol tabIndex={0} aria-label="Comments">
        {comments.map((comment, i) => (
          <li key={`${wordLine(comment)} ${i}`}>
            <div className="comment-said">
              {onShow ? (
                <button type="button" className="comment-place mono" onClick={() => onShow(comment)}>
                  {wordLine(comment)}
                </button>
              ) : (
                <span className="comment-place mono">{wordLine(comment)}</span>
              )}
              <p className="text">{showControls(comment.text)}</p>
            </div>
            <RemoveComment work={work} comment={comment} />
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Tells that comments are gone, because the work that they were about is no longer the one to answer about. */
export function LostNote({ teamId, taskId, lost }: { teamId: string; taskId: string; lost: LostComments | undefined }) {
  if (!lost) return null;
  const many = lost.count === 1 ? 'Your comment was' : `Your ${lost.count} comments were`;
  return (
    <div className="comments-lost" role="status">
      <span className="text">
        {many} about commit <span className="mono">{lost.commit.slice(0, 7)}</span>, which no longer waits for an
        answer. Nobody got {lost.count === 1 ? 'it' : 'them'}.
      </span>
      <button type="button" className="button small" onClick={() => dismissLost(teamId, taskId)}>
        OK
      </button>
    </div>
  );
}
