import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PlainFiles } from './plain-file.ts';

/** The attributes of a file may do more than convert the ends of its lines. */
export const MATTERS = 'matters';

/** Attributes that convert a file in other ways. A macro that sets them names them where it is defined. */
const CONVERTING = /filter|ident|working-tree-encoding/;

const MOST = 64 * 1024;

/** What attributes may do to a file. */
export type Attributes = 'lines' | typeof MATTERS | undefined;

/**
 * Looks up what the `.gitattributes` above a path may do to a file: undefined, there are none; `lines`, at most convert
 * the ends of lines, which only matters for a file that has a carriage return; or `MATTERS`. Git knows more exactly, but
 * would need a process. Each folder is looked at once.
 */
export function findAttributes(files: PlainFiles, dir: string): (path: string) => Attributes {
  const known = new Map<string, Attributes>();
  const look = (inside: string): Attributes => {
    if (known.has(inside)) return known.get(inside);
    const above = inside === '.' ? lookInDepot(dir) : look(dirname(inside));
    const here = lookAt(files, inside === '.' ? NAME : `${inside}/${NAME}`);
    const found = above === MATTERS || here === MATTERS ? MATTERS : (above ?? here);
    known.set(inside, found);
    return found;
  };
  return (path) => look(dirname(path));
}

const NAME = '.gitattributes';

/** Only a person can have put some there. */
function lookInDepot(dir: string): Attributes {
  return existsSync(join(dir, 'info', 'attributes')) ? MATTERS : undefined;
}

function lookAt(files: PlainFiles, path: string): Attributes {
  const found = files.find(path);
  if (found === 'nothing') return undefined;
  const file = found === 'file' ? files.read(path, MOST) : undefined;
  return file && !CONVERTING.test(file.bytes.toString('latin1')) ? 'lines' : MATTERS;
}
