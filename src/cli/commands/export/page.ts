import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gzipSync } from 'node:zlib';
import { RECORD_ELEMENT, RECORD_PLACE } from '../../../client/record.ts';
import type { RecordHead, RunRecord } from '../../../client/record.ts';
import { Refusal } from '../../show/errors.ts';

const NAME = 'ui/record.html.br';
/** Where it is, seen from the bundle in dist/cli/, and from src/cli/commands/export/. */
const PLACES = [join(import.meta.dirname, '..', NAME), join(import.meta.dirname, '../../../../dist', NAME)];

/** The page of the build, without a record. */
export function readTemplate(places: readonly string[] = PLACES): string {
  const found = places.find((path) => existsSync(path));
  if (found === undefined) {
    throw new Refusal('not_found', 'The dashboard was not built, and a record is made from it: run npm run build');
  }
  return brotliDecompressSync(readFileSync(found)).toString('utf8');
}

/**
 * Writes a record into the page. Its texts are inside of compressed bytes in base64, so none of them can be markup or
 * a script.
 */
export function writePage(template: string, head: RecordHead, record: RunRecord): Buffer {
  const [before, after, ...more] = template.split(RECORD_PLACE);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Refusal('internal', 'The page for records was not built as it should be: run npm run build');
  }
  const { teamId, at, version, hasTranscripts } = head;
  const data = { team: teamId, at, version, transcripts: hasTranscripts ? 'yes' : 'no' };
  const attributes = Object.entries(data).map(([name, value]) => ` data-${name}="${escape(String(value))}"`);
  const opening = `<script type="application/octet-stream" id="${RECORD_ELEMENT}"${attributes.join('')}>`;
  const packed = gzipSync(toText(record), { level: 9 }).toString('base64');
  return Buffer.concat([before, opening, packed, '</script>', after].map((part) => Buffer.from(part)));
}

function toText(record: RunRecord): string {
  try {
    return JSON.stringify(record);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Refusal('limit', 'The record is larger than 500 MB: leave out --transcripts');
  }
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
