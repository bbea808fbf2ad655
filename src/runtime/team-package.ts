import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { eventSchemas } from '../core/event-data.ts';
import type { EventType, TeamEvent } from '../core/event.ts';
import { Line } from '../core/fields.ts';
import { CommitId } from '../core/team-work.ts';
import { quote } from '../core/text.ts';
import { hashOf } from '../workspaces/depot/packs.ts';

/** The first bytes of a package; a number follows, which grows when the form below changes. */
const MARK = 'troupe-team ';
const FORMAT = 1;
/** The head is one line. */
const HEAD_BYTES = 64 * 1024;
/** How much all events may have as text. More is no string of JavaScript. */
const EVENT_BYTES = 256 * 1024 * 1024;

/** What a package is, on its second line. */
export const PackageHead = z.strictObject({
  team: z.string().max(64),
  troupe: z.string().max(64),
  exportedAt: z.number().int(),
  /** How many batches it has. */
  batches: z.number().int().min(1),
  /** How many bytes the batches take (JSON lines, gzip), and the git bundle after them. */
  events: z.number().int().min(1),
  bundle: z.number().int().min(0),
  /** The SHA-256 of both. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  work: z.strictObject({ branch: Line.min(1), base: CommitId, tip: CommitId }).optional(),
});
export type PackageHead = z.output<typeof PackageHead>;

/** A team as it travels. */
export interface TeamPackage {
  readonly head: PackageHead;
  readonly batches: readonly (readonly TeamEvent[])[];
  /** What landed, for git. */
  readonly bundle: Buffer;
}

type Given = Pick<TeamPackage, 'batches' | 'bundle'> & {
  readonly head: Pick<PackageHead, 'team' | 'troupe' | 'exportedAt' | 'work'>;
};

/** A package as the bytes of a file. */
export function writePackage({ head, batches, bundle }: Given): Buffer {
  const events = gzipSync(batches.map((batch) => `${JSON.stringify(batch)}\n`).join(''));
  const body = Buffer.concat([events, bundle]);
  const whole: PackageHead = {
    ...head,
    batches: batches.length,
    events: events.length,
    bundle: bundle.length,
    sha256: hashOf(body),
  };
  return Buffer.concat([Buffer.from(`${MARK}${FORMAT}\n${JSON.stringify(whole)}\n`), body]);
}

/** Reads a package. Throws a `TeamError` if it is none, of a newer form, cut off, damaged, or no team of Troupe. */
export function readPackage(bytes: Buffer, { eventBytes = EVENT_BYTES } = {}): TeamPackage {
  const { head, body } = readHead(bytes);
  if (body.length !== head.events + head.bundle) {
    const what = body.length < head.events + head.bundle ? 'cut off' : 'longer than it was';
    throw new TeamError('corrupt', `The file is ${what}: copy it again from the machine that wrote it`);
  }
  if (hashOf(body) !== head.sha256) {
    throw new TeamError('corrupt', 'The file is damaged (its checksum is wrong): copy it again');
  }
  const batches = readBatches(body.subarray(0, head.events), eventBytes);
  if (batches.length !== head.batches) throw new TeamError('corrupt', 'The file does not have the batches it names');
  return { head, batches, bundle: body.subarray(head.events) };
}

function readHead(bytes: Buffer): { head: PackageHead; body: Buffer } {
  const first = bytes.indexOf('\n');
  const format = bytes.subarray(0, Math.min(first, 64)).toString('latin1');
  if (first < 0 || !format.startsWith(MARK) || !/^[1-9]\d{0,8}$/.test(format.slice(MARK.length))) {
    throw new TeamError('invalid', 'This is no file of troupe export --journal');
  }
  if (Number(format.slice(MARK.length)) > FORMAT) {
    throw new TeamError('unsupported', 'A newer Troupe wrote this file: update Troupe to import it');
  }
  const second = bytes.indexOf('\n', first + 1);
  if (second < 0 || second > HEAD_BYTES) throw new TeamError('corrupt', 'The file is cut off, or its head is damaged');
  const head = PackageHead.safeParse(jsonIn(bytes.subarray(first + 1, second).toString('utf8')));
  if (!head.success) throw new TeamError('corrupt', 'The head of the file is damaged: copy it again');
  return { head: head.data, body: bytes.subarray(second + 1) };
}

function readBatches(packed: Buffer, most: number): TeamEvent[][] {
  const schemas = eventSchemas();
  return unpack(packed, most)
    .split('\n')
    .slice(0, -1)
    .map((line, at) => {
      const events = z.array(z.looseObject({ type: z.string() })).safeParse(jsonIn(line));
      if (!events.success) throw new TeamError('corrupt', `Batch ${at + 1} of the file is no batch of events`);
      return events.data.map((event) => {
        const schema = schemas.get(event.type as EventType);
        if (!schema) {
          throw new TeamError(
            'unsupported',
            `The file has an event ${quote(event.type)} of a newer Troupe: update Troupe to import it`,
          );
        }
        const parsed = schema.safeParse(event);
        if (parsed.success) return parsed.data as TeamEvent;
        throw new TeamError(
          'corrupt',
          `Batch ${at + 1} of the file has an event ${quote(event.type)} that is not valid`,
        );
      });
    });
}

function unpack(packed: Buffer, most: number): string {
  try {
    return gunzipSync(packed, { maxOutputLength: most }).toString('utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new TeamError('limit', `The events of the file have more than ${most / 1024 / 1024} MB`);
    }
    throw new TeamError('corrupt', 'The events of the file cannot be unpacked', { cause: error });
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
