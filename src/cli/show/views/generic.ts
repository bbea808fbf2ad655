import type { Screen } from '../screen.ts';
import { table } from '../table.ts';
import { clean } from '../text.ts';
import { showTime } from '../time.ts';
import { block, details } from './details.ts';

/** Shows the result of an operation without a view: lists as tables, things as names and values. */
export function showAnything(result: unknown, screen: Screen): string {
  if (Array.isArray(result)) return showList(result as unknown[], screen);
  if (typeof result === 'object' && result !== null) return showThing(result as Thing, screen);
  return `${showValue(result, screen)}\n`;
}

type Thing = Readonly<Record<string, unknown>>;

function showList(list: readonly unknown[], screen: Screen): string {
  if (list.length === 0) return 'There are none.\n';
  const things = list.map((one): Thing => (typeof one === 'object' && one !== null ? { ...one } : { value: one }));
  const names = [...new Set(things.flatMap((thing) => Object.keys(thing)))].filter((name) =>
    things.every((thing) => typeof thing[name] !== 'object' || thing[name] === null || isShort(thing[name])),
  );
  const columns = names.map((name) => ({ title: toWords(name).toUpperCase(), flexible: true as const }));
  return table(
    columns,
    things.map((thing) => names.map((name) => showValue(thing[name], screen))),
    screen,
  );
}

function showThing(thing: Thing, screen: Screen): string {
  const [texts, others] = [true, false].map((wanted) =>
    Object.entries(thing).filter(([, value]) => (typeof value === 'string' && value.includes('\n')) === wanted),
  );
  return (
    details(
      (others ?? []).map(([name, value]) => [toWords(name), showValue(value, screen)]),
      screen,
    ) + (texts ?? []).map(([name, value]) => block(toWords(name), String(value), screen)).join('')
  );
}

function showValue(value: unknown, screen: Screen): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? showTime(value, screen) : value;
  return isShort(value) ? value.join(', ') : JSON.stringify(value);
}

/** A list of words or numbers. */
function isShort(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string' || typeof one === 'number');
}

/** `createdAt` as people write it. */
function toWords(name: string): string {
  return clean(name).replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
