import { Fragment } from 'react';
import type { ReactNode } from 'react';
import { splitControls } from '../parts/controls.ts';
import { changedPart } from './rows.ts';
import type { Line } from './rows.ts';

/** A part of a line with its colour, in order and without gaps; an empty class has none. */
export type Token = readonly [className: string, length: number];

/** Longer lines are folded: one of them would fill a screen. */
export const LONG_LINE = 1_000;

/** The text of a line: colours, what changed in it, and every character visible. */
export function Code({
  line,
  tokens,
  isWhole,
}: {
  line: Line;
  tokens: readonly Token[] | undefined;
  isWhole: boolean;
}) {
  const hasReturn = line.text.endsWith('\r') && line.length === undefined;
  const text = hasReturn ? line.text.slice(0, -1) : line.text;
  const shown = isWhole ? text : text.slice(0, LONG_LINE);
  const part = changedPart(line);
  return (
    <>
      {cutUp(shown, tokens ?? [], part)}
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

/** Cuts a text where a colour or the changed part begins or ends. */
function cutUp(
  text: string,
  tokens: readonly Token[],
  part: readonly [number, number] | undefined,
): readonly ReactNode[] {
  const pieces: ReactNode[] = [];
  const add = (from: number, to: number, className: string): void => {
    if (to <= from) return;
    const isChanged = part !== undefined && from >= part[0] && to <= part[1];
    const name = `${className}${isChanged ? ' diff-changed' : ''}`.trim();
    const own = visible(text.slice(from, to));
    pieces.push(
      name === '' ? (
        <Fragment key={from}>{own}</Fragment>
      ) : (
        <span key={from} className={name}>
          {own}
        </span>
      ),
    );
  };
  const addParts = (from: number, to: number, className: string): void => {
    const [start = from, end = from] = part ?? [];
    const cuts = [from, Math.min(to, Math.max(from, start)), Math.min(to, Math.max(from, end)), to];
    for (let i = 0; i < 3; i++) add(cuts[i] ?? 0, cuts[i + 1] ?? 0, className);
  };
  let at = 0;
  for (const [className, length] of tokens) {
    const end = Math.min(text.length, at + length);
    addParts(at, end, className);
    at = end;
  }
  addParts(at, text.length, '');
  return pieces;
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
