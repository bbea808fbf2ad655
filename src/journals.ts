import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { TeamError } from './core/errors.ts';
import { explainMissing } from './core/missing-package.ts';
import { withoutPassword } from './core/secret.ts';
import type { JournalAwayError } from './journal/away.ts';
import { fileAddress, OWN_ADDRESS, pathInAddress } from './journal/file-address.ts';
import type { Hosts } from './journal/hosts.ts';
import type { Journal } from './journal/journal.ts';
import type { Lost } from './journal/mark.ts';
import { memoryJournal } from './journal/memory.ts';
import type { NatsInspection } from './journal/nats/found.ts';
import type { PackStore } from './journal/packs.ts';
import { sqliteJournal } from './journal/sqlite.ts';

/** Where teams are stored: a file, the memory of one process, or servers that several machines reach. */
export type JournalPlace =
  | { readonly kind: 'sqlite'; readonly path?: string }
  | { readonly kind: 'memory' }
  | { readonly kind: 'nats'; readonly url: string; readonly base?: string };

/** An open journal, and how durable it is. */
export interface OpenedJournal {
  readonly journal: Journal;
  readonly kind: JournalPlace['kind'];
  readonly location: string;
  readonly durability: 'fsync-before-ack' | 'replicated' | 'lazy' | 'memory';
  /** The daemons that share it, if several can. */
  readonly hosts?: Hosts;
  /** Where the work of members lies for these daemons. */
  readonly packs?: PackStore;
  /** Why the journal cannot be used now, if it is unreachable. */
  readonly away?: () => JournalAwayError | undefined;
  /** The address that opens it again without asking anyone; unset if it needs a credential. */
  readonly again?: string;
  /** The damage, if any; a damaged journal is read-only. */
  readonly damage?: TeamError;
  /** How to make acknowledged data safer, if possible. */
  readonly advice?: string;
}

/** The default place for the teams of a state directory. */
export const OWN_PLACE: JournalPlace = { kind: 'sqlite' };

/** Parses `sqlite:PATH`, `sqlite://PATH`, `memory`, `nats://...` or `tls://...`; paths are relative to `base`. */
export function readJournalPlace(text: string, base: string): JournalPlace {
  if (text === 'memory') return { kind: 'memory' };
  if (text === OWN_ADDRESS) return OWN_PLACE;
  const path = pathInAddress(text);
  if (path !== undefined) return { kind: 'sqlite', path: resolve(base, path) };
  if (/^(nats|tls):/.test(text)) return { kind: 'nats', url: text, base };
  throw new TeamError(
    'invalid',
    `${JSON.stringify(withoutPassword(text))} is not a journal: use sqlite:PATH, nats://host:port or memory`,
  );
}

/** The same address with absolute paths, resolved from `base`, for use in another folder. Other text stays as it is. */
export async function anchorPlace(text: string, base: string): Promise<string> {
  const path = pathInAddress(text);
  if (path !== undefined) return fileAddress(resolve(base, path));
  if (!/^(nats|tls):/.test(text)) return text;
  return (await import('./journal/nats/address.ts')).anchorAddress(text, base);
}

interface OpenOptions {
  /** The file of a journal that names none. */
  readonly file: string;
  /** Only one ledger, of this process, writes to it. */
  readonly exclusive?: boolean;
  /** Where a daemon notes how far the teams on servers had come; a file has its mark beside it. */
  readonly mark?: string;
}

/** Where a daemon looks for a journal and for its mark. */
export interface LostOptions {
  readonly file: string;
  readonly mark: string;
}

/** How the kinds of journals differ. */
interface JournalKind<P extends JournalPlace> {
  /** Several daemons may write to it at the same time. */
  readonly isShared: boolean;
  /** Its content outlives the process. */
  readonly lasts: boolean;
  /** Its file; `own` if the place names none. */
  file(place: P, own: string): string | undefined;
  /** Its place as in `location`, if that is not its file. */
  show?(place: P): Promise<string>;
  /** What its mark has and it has not. */
  findLost(place: P, options: LostOptions): Promise<Lost[]>;
  /** Looks at its servers, if it has some. */
  inspect?(place: P, mark: string): Promise<NatsInspection>;
  open(place: P, options: Required<Pick<OpenOptions, 'exclusive'>> & OpenOptions): Promise<OpenedJournal>;
}

/** An empty journal in memory, to try something in. */
export function openScratch(): Journal {
  return memoryJournal();
}

// The NATS code is loaded only when it is needed.
const KINDS: { readonly [P in JournalPlace as P['kind']]: JournalKind<P> } = {
  memory: {
    isShared: false,
    lasts: false,
    file: () => undefined,
    findLost: async () => [],
    open: async () => ({ journal: memoryJournal(), kind: 'memory', location: 'memory', durability: 'memory' }),
  },
  sqlite: {
    isShared: false,
    lasts: true,
    file: ({ path }, own) => path ?? own,
    findLost: async ({ path }, { file }) => (await import('./journal/sqlite/lost.ts')).findLost(path ?? file),
    async open({ path }, { file, exclusive }) {
      const location = path ?? file;
      const journal = sqliteJournal(location, { exclusive });
      const { damage } = journal;
      const facts = { location, durability: 'fsync-before-ack', again: fileAddress(location) } as const;
      return { journal, kind: 'sqlite', ...facts, ...(damage && { damage }) };
    },
  },
  nats: {
    isShared: true,
    lasts: true,
    file: () => undefined,
    async show({ url, base }) {
      const { readNatsAddress, showAddress } = await import('./journal/nats/address.ts');
      return showAddress(readNatsAddress(url, base ?? process.cwd()));
    },
    async findLost({ url, base = process.cwd() }, { mark }) {
      return (await import('./journal/nats/lost.ts')).findLostOnNats(url, { base, mark });
    },
    async inspect({ url, base = process.cwd() }, mark) {
      return (await import('./journal/nats/inspect.ts')).inspectNatsJournal(url, { base, mark });
    },
    async open({ url, base }, { mark }) {
      const { natsJournal } = await import('./journal/nats.ts').catch((error: unknown) => {
        const missing = explainMissing(error);
        throw missing === undefined ? error : new TeamError('unsupported', missing);
      });
      const { repeatAddress } = await import('./journal/nats/address.ts');
      const journal = await natsJournal(url, {
        ...(base !== undefined && { base }),
        ...(mark !== undefined && { mark }),
      });
      const again = repeatAddress(url, base ?? process.cwd());
      const facts = { ...journal.facts, ...(again !== undefined && { again }) };
      return {
        journal,
        kind: 'nats',
        hosts: journal.hosts,
        packs: journal.packs,
        away: () => journal.away(),
        ...facts,
      };
    },
  },
};

function kindOf(place: JournalPlace): JournalKind<JournalPlace> {
  return KINDS[place.kind];
}

/** Opens a journal. */
export function openJournal(
  place: JournalPlace,
  { exclusive = false, ...options }: OpenOptions,
): Promise<OpenedJournal> {
  return kindOf(place).open(place, { exclusive, ...options });
}

/** Whether several daemons can share it. */
export function isShared(place: JournalPlace): boolean {
  return kindOf(place).isShared;
}

/** Whether it outlives the process that opens it. */
export function lasts(place: JournalPlace): boolean {
  return kindOf(place).lasts;
}

/** The file of a journal; undefined if it has none. */
export function fileOf(place: JournalPlace, { file }: { file: string }): string | undefined {
  return kindOf(place).file(place, file);
}

/** A place as in `location`, without opening it. */
export async function showPlace(place: JournalPlace, { file }: { file: string }): Promise<string> {
  return (await kindOf(place).show?.(place)) ?? fileOf(place, { file }) ?? place.kind;
}

/** What the mark of a journal has and the journal has not. */
export function findLost(place: JournalPlace, options: LostOptions): Promise<Lost[]> {
  return kindOf(place).findLost(place, options);
}

/** Looks at the servers of a journal; undefined if it has none. */
export async function inspectServers(place: JournalPlace, mark: string): Promise<NatsInspection | undefined> {
  return kindOf(place).inspect?.(place, mark);
}

/** Whether there is something to read; opening a missing file would create one. */
export function isThere(place: JournalPlace, { file }: { file: string }): boolean {
  const path = fileOf(place, { file });
  return path === undefined || existsSync(path);
}
