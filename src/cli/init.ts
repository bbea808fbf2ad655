import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Arguments } from './arguments.ts';
import { Refusal } from './errors.ts';
import { TEMPLATES } from './init/templates.ts';
import type { TemplateName } from './init/templates.ts';
import type { Surroundings } from './own.ts';
import { print, toJson } from './write.ts';

interface InitInput {
  readonly template?: TemplateName;
  readonly file?: string;
  readonly force?: boolean;
}

/** Writes a team file to start from. */
export async function run(given: Arguments, _surroundings: Surroundings): Promise<number> {
  const { template = 'review', file = 'troupe.yaml', force = false } = given.input as InitInput;
  const path = resolve(file);
  try {
    writeFileSync(path, TEMPLATES[template], { flag: force ? 'w' : 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new Refusal('exists', `${file} is there already: choose another name or say --force`);
    throw new Refusal('storage', `Cannot write ${file}: ${message}`);
  }
  if (given.json) print(toJson({ file: path, template }, undefined));
  else {
    print(`Wrote ${file}. Read it, put your programs in, then: troupe up ${file}
`);
  }
  return 0;
}
