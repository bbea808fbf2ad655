import { join } from 'node:path';

/** The file in which the process of a member shows that it lives, beside its record. */
export function pulseFile(folder: string, processId: string): string {
  return join(folder, `${processId}.pulse`);
}
