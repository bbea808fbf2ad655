import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { suggestSlug } from '../../core/fields.ts';
import type { HostCard } from '../../journal/hosts.ts';
import { installedNames } from '../installed-agents.ts';
import { replacePrivateFile } from '../private-file.ts';

/** A daemon's description of itself: name, labels, agents, and the id of its state directory. */
export function describeHost(options: {
  readonly directory: string;
  readonly name: string;
  readonly labels: string[];
  readonly version: string;
  readonly notifies: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}): Omit<HostCard, 'load'> {
  const { directory, environment, ...card } = options;
  const agents = installedNames(environment);
  // A copy of the directory has the same id.
  return { ...card, agents, home: readId(join(directory, 'id')), instance: randomUUID() };
}

/** The name of a daemon without a configured one. */
export function defaultName(): string {
  return suggestSlug(hostname().split('.', 1)[0] ?? '');
}

function readId(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    const id = randomUUID();
    replacePrivateFile(path, `${id}\n`);
    return id;
  }
}
