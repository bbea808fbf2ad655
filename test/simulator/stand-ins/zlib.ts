// Stands in for node:zlib in the journals: no thread takes a time that no seed decides.
import { deflateRawSync, inflateRawSync } from 'node:zlib';

export { crc32 } from 'node:zlib';

type Done = (error: Error | null, result?: Buffer) => void;

export function deflateRaw(data: Uint8Array, options: { level: number }, done: Done): void {
  answer(done, () => deflateRawSync(data, options));
}

export function inflateRaw(data: Uint8Array, done: Done): void {
  answer(done, () => inflateRawSync(data));
}

function answer(done: Done, work: () => Buffer): void {
  try {
    done(null, work());
  } catch (error) {
    done(error as Error);
  }
}
