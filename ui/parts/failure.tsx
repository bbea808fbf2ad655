import { CircleAlert } from 'lucide-react';
import type { Failure } from './act.ts';

/** Shows an error where it happened. */
export function FailureNote({ failure }: { failure: Failure | undefined }) {
  if (!failure) return null;
  return (
    <div className="error" role="alert">
      <CircleAlert size={16} aria-hidden />
      <span>
        {failure.message} <code>{failure.code}</code>
      </span>
    </div>
  );
}
