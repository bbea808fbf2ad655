import { writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

/*
 * Runs a hook that is a module, in its own process. Its default export gets the payload. Its return value or exception
 * becomes an exit code and feedback, like a program's.
 */

const [, , path = ''] = process.argv;
const payload: unknown = JSON.parse(await text(process.stdin));
const module = (await import(pathToFileURL(resolve(path)).href)) as { default?: unknown };
if (typeof module.default !== 'function') throw new Error(`${path} has no default export that is a function`);
const answer: unknown = await (module.default as (payload: unknown) => unknown)(payload);
if (answer && typeof answer === 'object' && 'reject' in answer) {
  writeSync(2, String(answer.reject));
  process.exitCode = 2;
}
