import { MessageSquarePlus } from 'lucide-react';
import { beginComment } from '../data/review-drafts.ts';
import { showControls } from '../parts/controls.ts';
import { nameLine, useReviewing } from './reviewing.ts';
import type { Line } from './rows.ts';

/** Opens the box for a comment on a line. It covers the line's number; arrow keys lead from one to the next. */
export function CommentButton({ path, line }: { path: string; line: Line }) {
  const work = useReviewing();
  if (!work) return null;
  const name = nameLine(path, line);
  return (
    <button
      type="button"
      className="diff-comment-on"
      data-side={name.side}
      // Hundreds of stops between the tools and the answer would be in the way: C or a button leads here.
      tabIndex={-1}
      aria-label={`Comment on ${name.side === 'old' ? 'removed line' : 'line'} ${name.line} of ${showControls(path)}`}
      title="Comment on this line"
      onClick={() => beginComment(work, name)}
    >
      <MessageSquarePlus size={13} aria-hidden />
    </button>
  );
}
