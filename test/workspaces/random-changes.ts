import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** Names that a quick save takes. */
const NAMES = [
  'a',
  'a.b',
  'd/x',
  'd/y.txt',
  'd/e/z',
  'd/e/f/g',
  'src/a.ts',
  'src/b.ts',
  'sp ace',
  "quo'te",
  '.github/flow.yml',
  '-dash',
];
/** Names that it leaves to the usual way, and attributes that change what git makes of a file. */
const ODD_NAMES = [
  'odd~1',
  'ünï',
  'quo"te',
  'back\\slash',
  'new\nline',
  'd/.gitattributes',
  '.gitignore',
  'd/.gitkeep',
];
const STRANGE_NAMES = [
  ' lead',
  'trail ',
  '--',
  'inline',
  '"q"',
  'tab\t',
  '...',
  '..a',
  'a/b/c',
  'a:b',
  'A',
  'D/x',
  '*',
  '[a]',
  '<x>',
  'a|b',
  '@{1}',
  'x\u0001',
];
/** Names for which the attributes stay as they were: when other ones come, git does not look at all files again. */
const SETTLED_NAMES = [
  ...Array.from({ length: 4 }, () => NAMES).flat(),
  ...ODD_NAMES.filter((name) => !name.endsWith('.gitattributes')),
  ...STRANGE_NAMES,
];

export const ATTRIBUTES = [
  '',
  '* text=auto\n',
  '* text=auto eol=crlf\n*.ts ident\n',
  '*.txt text\n[attr]q eol=lf\nd/* q\n',
];

const CONTENTS = ['', 'one\n', 'two\nlines\n', 'with\r\nreturns\r\n', '$Id$\n', 'other\n', 'b\0\r\n'];

/** Makes a random change: an edit, a new file, a removal, a mode, a link, a file in place of a folder, or the other way. */
function change(folder: string, next: () => number, names?: readonly string[]): void {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
  const name = pick(names ?? (next() < 0.9 ? NAMES : ODD_NAMES));
  const path = join(folder, name);
  const what = next();
  if (what < 0.2) {
    rmSync(next() < 0.3 ? join(folder, name.split('/')[0] ?? '') : path, { recursive: true, force: true });
    return;
  }
  clearWay(folder, name);
  const here = lstatSync(path, { throwIfNoEntry: false });
  if (what < 0.3 && here?.isFile()) chmodSync(path, next() < 0.5 ? 0o755 : 0o644);
  else if (what < 0.4 && here?.isFile()) writeFileSync(path, readFileSync(path));
  else {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(dirname(path), { recursive: true });
    if (what < 0.5) symlinkSync(pick(['a', '/etc/passwd', '../..', 'd']), path);
    else if (name.endsWith('.gitattributes')) writeFileSync(path, pick(ATTRIBUTES));
    else writeFileSync(path, pick(CONTENTS));
  }
}

/** Makes up to four changes and moves. The attributes stay as they were. */
export function changeSettled(folder: string, next: () => number): void {
  for (let n = Math.floor(next() * 4); n >= 0; n--) {
    if (next() < 0.85) change(folder, next, SETTLED_NAMES);
    else move(folder, next, SETTLED_NAMES);
  }
}

/** Moves a file, a link or a folder to another name, over what is there. */
function move(folder: string, next: () => number, names: readonly string[]): void {
  const [from = '', to = ''] = [0, 1].map(() => names[Math.floor(next() * names.length)]);
  try {
    clearWay(folder, to);
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    renameSync(join(folder, from), join(folder, to));
  } catch {
    // It does not exist, is in the way of itself, or is another kind of thing.
  }
}

/**
 * Makes up to four changes. If attributes are among them, all files are written again: git looks at a file that did not
 * change only if its index is no older, by the second. So what the new attributes do to it would depend on the time.
 */
export function changeSome(folder: string, next: () => number): void {
  const before = attributesIn(folder);
  for (let n = Math.floor(next() * 4); n >= 0; n--) change(folder, next);
  if (attributesIn(folder) === before) return;
  for (const path of filesIn(folder)) writeFileSync(path, readFileSync(path));
}

function attributesIn(folder: string): string {
  const all = filesIn(folder).filter((path) => path.endsWith('.gitattributes'));
  return all.map((path) => `${path}\0${readFileSync(path, 'latin1')}`).join('\0');
}

/** The files of a folder without its `.git`. No link is followed, which a recursive `readdirSync` does. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === '.git' ? [] : filesIn(path);
    return entry.isFile() ? [path] : [];
  });
}

/** Removes files and links where a path needs folders. */
function clearWay(folder: string, name: string): void {
  const parts = name.split('/').slice(0, -1);
  for (const [i] of parts.entries()) {
    const above = join(folder, ...parts.slice(0, i + 1));
    if (lstatSync(above, { throwIfNoEntry: false })?.isDirectory() === false) rmSync(above);
  }
}
