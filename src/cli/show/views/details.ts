import { paint } from '../screen.ts';
import type { Screen } from '../screen.ts';
import type { Cell } from '../table.ts';
import { clean, cleanLines, cut, widthOf, wrap } from '../text.ts';

/** A thing as lines of names and values; empty values are left out. */
export function details(rows: readonly (readonly [name: string, value: Cell | undefined])[], screen: Screen): string {
  const shown = rows.flatMap(([name, cell]) => {
    const text = clean(typeof cell === 'string' ? cell : (cell?.text ?? ''));
    return cell === undefined || text === '' ? [] : [{ name, text, cell }];
  });
  const width = Math.max(0, ...shown.map(({ name }) => name.length));
  const lines = shown.flatMap(({ name, text, cell }) => {
    const style = typeof cell === 'string' ? undefined : cell.style;
    return fold(text, screen, width + 4).map(
      (line, at) => `  ${paint(screen, 'dim', (at === 0 ? name : '').padEnd(width))}  ${paint(screen, style, line)}`,
    );
  });
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

/** The name of a thing, above its details. */
export function heading(text: string, screen: Screen): string {
  return `${paint(screen, 'bold', cut(clean(text), screen.columns))}\n`;
}

/** A longer text under its name; empty if there is no text. */
export function block(name: string, text: string | undefined, screen: Screen): string {
  if (text === undefined || text === '') return '';
  const head = name === '' ? '' : `\n  ${paint(screen, 'dim', name)}\n`;
  return `${head}${indent(text, screen, name === '' ? 2 : 4)}`;
}

/** Foreign text, line by line, indented. */
export function indent(text: string, screen: Screen, by: number): string {
  return cleanLines(text)
    .flatMap((line) => fold(line, screen, by))
    .map((line) => `${' '.repeat(by)}${line}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('');
}

/** Wraps a sentence of ours. */
export function paragraph(text: string, screen: Screen): string {
  return fold(text, screen, 0)
    .map((line) => `${line}\n`)
    .join('');
}

/** The metadata that others store. Troupe's own keys are left out, because they are shown in words. */
export function metadataBeside(
  metadata: Readonly<Record<string, unknown>> | undefined,
  ours: readonly string[],
): string | undefined {
  const others = Object.entries(metadata ?? {}).filter(([key]) => !ours.includes(key));
  return others.length === 0 ? undefined : JSON.stringify(Object.fromEntries(others));
}

/** `1 task`, `2 tasks`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** An amount of US dollars: two decimals; below a dollar, the first two digits that are not zero. */
export function dollars(amount: number): string {
  if (amount === 0 || amount >= 0.995) return amount.toFixed(2);
  if (amount < 0.000_095) return '<0.0001';
  return amount.toFixed(Math.max(2, 1 - Math.floor(Math.log10(amount))));
}

function fold(text: string, screen: Screen, taken: number): string[] {
  const room = screen.columns - taken;
  return widthOf(text) <= room ? [text] : wrap(text, Math.max(20, room));
}

/** A part of a long text, and how to get the next one. */
export function textPart({ text, from, chars }: { text: string; from: number; chars: number }): string {
  const end = from + text.length;
  return `${cleanLines(text).join('\n')}\n${end < chars ? `There is more: go on with --from ${end}\n` : ''}`;
}
