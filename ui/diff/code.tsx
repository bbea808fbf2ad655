import type { ReactNode } from 'react';
import { splitControls } from '../parts/controls.ts';
import { changedPart } from './rows.ts';
import type { Line } from './rows.ts';

/** Longer lines are folded: one of them would fill a screen. */
export const LONG_LINE = 1_000;

/** The text of a line: what changed in it, and every character visible. */
export function Code({ line, isWhole }: { line: Line; isWhole: boolean }) {
  const hasReturn = line.text.endsWith('\r') && line.length === undefined;
  const text = hasReturn ? line.text.slice(0, -1) : line.text;
  const shown = isWhole ? text : text.slice(0, LONG_LINE);
  const part = changedPart(line);
  return (
    <>
      {cutUp(shown, part)}
      {hasReturn && <Mark text="CR" title="The line ends with a carriage return and a line feed" />}
      {line.isLast && <Mark text="no newline" title="The file ends here, without a newline" />}
    </>
  );
}

function Mark({ text, title }: { text: string; title: string }) {
  return (
    <span className="diff-mark" title={title}>
      {text}
    </span>
  );
}

/** Cuts a text where the changed part begins and ends. */
function cutUp(text: string, part: readonly [number, number] | undefined): ReactNode {
  if (!part) return visible(text);
  const [start, end] = part;
  return (
    <>
      {visible(text.slice(0, start))}
      <span className="diff-changed">{visible(text.slice(start, end))}</span>
      {visible(text.slice(end))}
    </>
  );
}

function visible(text: string): ReactNode {
  const parts = splitControls(text);
  if (!parts.some(({ isControl }) => isControl)) return text;
  return parts.map((part, i) =>
    part.isControl ? (
      <span key={i} className="diff-control">
        {part.text}
      </span>
    ) : (
      part.text
    ),
  );
}
