import { nuid } from '@nats-io/transport-node';
import { TeamError } from '../core/errors.ts';
import type { JournalAwayError } from './away.ts';
import { conflict } from './conflict.ts';
import type { Hosts } from './hosts.ts';
import type { Journal, Seq } from './journal.ts';
import { keepMark } from './mark.ts';
import type { Ends } from './mark.ts';
import { readNatsAddress } from './nats/address.ts';
import { appendBatch, idAt } from './nats/append.ts';
import { decodeBatch, pack } from './nats/batch.ts';
import { openBells } from './nats/bells.ts';
import { forked, inOrder, openTips } from './nats/chain.ts';
import { versionOf } from './nats/connect.ts';
import { judgeDurability } from './nats/durability.ts';
import type { Durability } from './nats/durability.ts';
import { explaining, isTransient, tooLarge, toTeamError } from './nats/errors.ts';
import { endWith, flow } from './nats/flow.ts';
import { openHosts } from './nats/hosts.ts';
import { openLink } from './nats/link.ts';
import type { Timing } from './nats/link.ts';
import { encodedIn, requireMarked } from './nats/lost.ts';
import type { SeenEnd } from './nats/lost.ts';
import { encodeTeam } from './nats/names.ts';
import { openPacks } from './nats/packs.ts';
import { readMessages } from './nats/read.ts';
import { ensureSettings, readSettings } from './nats/settings.ts';
import { openSnapshots } from './nats/snapshots.ts';
import { adviseOnStreams } from './nats/streams-kept.ts';
import { deleteStream, findStream, listTeams, makeStream } from './nats/streams.ts';
import type { Found, Life } from './nats/streams.ts';
import { openTurns } from './nats/turns.ts';
import type { PackStore } from './packs.ts';

/** A journal on NATS servers, and what is known about them. */
export interface NatsJournal extends Journal {
  readonly facts: Durability & { readonly location: string };
  /** The daemons that share it. */
  readonly hosts: Hosts;
  readonly packs: PackStore;
  /** Why the journal cannot be used now: no server is reachable, or none answers. */
  away(): JournalAwayError | undefined;
}

export interface NatsJournalOptions extends Partial<Timing> {
  /** The folder for relative paths in the address. */
  readonly base?: string;
  /** The file of this daemon's mark: how far teams had come, as it saw them. */
  readonly mark?: string;
  /** How often the mark is written. */
  readonly markMs?: number;
}

/** Room for headers in a message. */
const HEADERS_BYTES = 1024;

/**
 * A journal on NATS JetStream, for daemons on several machines: a stream per team, a message per batch, appended after
 * the stream's expected last sequence. The servers handle replication and quorum. Opening throws a `TeamError` that
 * says what to do.
 *
 * Each life of a team has its own subject, so an append for a dropped team reaches nobody.
 */
export async function natsJournal(url: string, options: NatsJournalOptions = {}): Promise<NatsJournal> {
  const { base = process.cwd(), patienceMs = 20_000, mark: markFile, markMs = 1_000, ...timing } = options;
  const closing = new AbortController();
  const address = readNatsAddress(url, base);
  const link = await openLink(address, { ...timing, patienceMs, closing: closing.signal });
  const { snapshots, facts, hosts, seen } = await prepare();
  const mark = markFile === undefined ? undefined : keepMark(markFile, seen, { everyMs: markMs, of: link.place });
  const bells = openBells(link);
  const turns = openTurns();
  const tips = openTips((subject, seq, id) => mark?.reached(subject, id === undefined ? [seq] : [seq, id]));
  /** The known life of each team. Entries are never removed, so that a writer that missed a change is refused. */
  const known = new Map<string, Life>();
  /** Streams that are known to have a batch, from the mark too. Servers that deny one of them are asked again. */
  const begun = new Set([...seen.keys()].map((subject) => link.names.stream(encodedIn(subject))));
  /** A message id is the writer's name and a number: never used twice. */
  const writer = nuid.next();
  let attempts = 0;
  let closed: Promise<void> | undefined;

  async function prepare() {
    try {
      const seen: Ends<SeenEnd> = markFile === undefined ? new Map() : await requireMarked(link, markFile);
      const settings = await ensureSettings(link);
      const version = versionOf(link.nc);
      const durability = await judgeDurability(address, { version, replicas: settings.replicas });
      const hosts = await openHosts(link, settings);
      const advice = [durability.advice, await adviseOnStreams(link, settings)].filter(Boolean).join(' ');
      const facts = { location: link.place, durability: durability.durability, ...(advice !== '' && { advice }) };
      return { snapshots: await openSnapshots(link), facts, hosts, seen };
    } catch (error) {
      await link.nc.close();
      throw toTeamError(error, link.place, 'open the journal');
    }
  }

  function assertOpen(): void {
    if (closed !== undefined) throw new TeamError('storage', `The journal at ${link.place} is closed. Open it again.`);
  }

  /** Does something to one team, and translates the server's refusals into our errors. */
  function telling<T>(team: string, doing: string, work: () => Promise<T>): Promise<T> {
    return explaining(link.place, `${doing} team ${JSON.stringify(team)}`, work);
  }

  /** The current life of the team if reading starts at its beginning, else the life whose beginning was read. */
  async function findToRead(team: string, encoded: string, after: Seq): Promise<Life | undefined> {
    const before = known.get(team);
    if (before && after > 0) return before;
    const life = await findTeam(encoded);
    if (life) known.set(team, life);
    return life;
  }

  async function findTeam(encoded: string): Promise<Found | undefined> {
    const stream = link.names.stream(encoded);
    const found = await findStream(link, encoded, { wasThere: begun.has(stream) });
    if (!found?.end) {
      begun.delete(stream);
      return undefined;
    }
    begun.add(stream);
    return found;
  }

  async function append(team: string, expected: Seq, body: string): Promise<Seq> {
    const encoded = encodeTeam(team);
    if (!Number.isSafeInteger(expected) || expected < 0) throw conflict(team, expected);
    const packed = await pack(body);
    // Without a connection nothing is known of a server.
    if (packed.data.length + HEADERS_BYTES > (link.nc.info?.max_payload ?? Infinity)) {
      throw tooLarge(link.place, `append to team ${JSON.stringify(team)}`);
    }
    const life = expected === 0 ? await beginLife(team, encoded) : (known.get(team) ?? (await findTeam(encoded)));
    if (!life) throw conflict(team, expected);
    const id = `${writer}-${++attempts}`;
    const after = tips.idOf(life, expected);
    // The servers may have lost this batch and given its number to another one, which this append must not follow.
    const isDoubtful = tips.isDoubtful(life, expected, link.reach.troubledAt);
    if (isDoubtful && (await idAt(link, life, expected)) !== after) throw conflict(team, expected);
    const seq = await appendBatch(link, { team, encoded, life, expected, id, after }, packed);
    tips.note(life, { seq, id });
    known.set(team, life);
    begun.add(life.stream);
    if (expected === 0) bells.ring(encoded);
    return seq;
  }

  /** A stream for the first batch: a new one, or one that was created but never used. */
  async function beginLife(team: string, encoded: string): Promise<Life | undefined> {
    // The settings may have changed since we connected; each new team gets the current ones.
    const settings = await readSettings(link);
    if (!settings) {
      throw new TeamError('storage', `There is no journal at ${link.place} any more: nothing was changed.`);
    }
    const found = await makeStream(link, team, { encoded, settings });
    return found.end === 0 ? found : undefined;
  }

  async function drop(team: string): Promise<void> {
    const encoded = encodeTeam(team);
    const found = await findStream(link, encoded, { wasThere: begun.has(link.names.stream(encoded)) });
    if (!found) return;
    mark?.forget(found.subject);
    await snapshots.noteDropped(found);
    await deleteStream(link, found.stream);
    begun.delete(found.stream);
    bells.ring(encoded);
  }

  return {
    facts,
    hosts,
    packs: openPacks(link),
    away: () => (link.reach.awaySince === undefined && !link.reach.isMute ? undefined : link.reach.error()),

    append(team, expected, events) {
      return new Promise((resolve, reject) => {
        assertOpen();
        const body = JSON.stringify(events);
        const turn = turns.run(team, () => telling(team, 'append to', () => append(team, expected, body)));
        turn.then(resolve, reject);
      });
    },

    async *read(team, after) {
      assertOpen();
      const encoded = encodeTeam(team);
      try {
        const from = Math.max(0, after);
        const life = await findToRead(team, encoded, from);
        if (!life) return;
        const course = { team, encoded, life, after: from };
        const onFork = (seq: Seq): never => {
          throw forked(team, life, seq);
        };
        for await (const message of inOrder(readMessages(link, course), { life, onFork }, tips)) {
          assertOpen();
          yield await decodeBatch(message, team);
        }
        assertOpen();
      } catch (error) {
        throw toTeamError(error, link.place, `read team ${JSON.stringify(team)}`);
      }
    },

    async *follow(team, after, signal) {
      assertOpen();
      const encoded = encodeTeam(team);
      const stop = new AbortController();
      const end = () => stop.abort();
      signal.addEventListener('abort', end);
      closing.signal.addEventListener('abort', end);
      if (signal.aborted) end();
      try {
        const from = Math.max(0, after);
        let life = await findToRead(team, encoded, from);
        if (!life && from > 0) return;
        while (!life && !stop.signal.aborted) {
          await bells.wait(encoded, stop.signal);
          if (!stop.signal.aborted) life = await findToRead(team, encoded, 0);
        }
        if (!life) return;
        const course = { team, encoded, life, after: from };
        // If the servers lost batches that were seen, following ends, as after a drop: the follower has to start again.
        const order = { life, before: tips.idOf(life, from), onFork() {} };
        const messages = flow(link, course, { signal: stop.signal, bells });
        for await (const message of endWith(inOrder(messages, order, tips), stop.signal)) {
          yield await decodeBatch(message, team);
          if (stop.signal.aborted) return;
        }
      } catch (error) {
        if (!stop.signal.aborted) throw toTeamError(error, link.place, `follow team ${JSON.stringify(team)}`);
      } finally {
        signal.removeEventListener('abort', end);
        closing.signal.removeEventListener('abort', end);
        stop.abort();
      }
    },

    async loadSnapshot(team) {
      assertOpen();
      const encoded = encodeTeam(team);
      return telling(team, 'load a snapshot of', async () => {
        const found = await findTeam(encoded);
        if (!found) return undefined;
        known.set(team, found);
        // A bad snapshot does no harm, because the batches exist. Without servers, neither can be read.
        return snapshots.load(found).catch((error: unknown) => {
          if (isTransient(error)) throw error;
          return undefined;
        });
      });
    },

    async saveSnapshot(team, snapshot) {
      assertOpen();
      const encoded = encodeTeam(team);
      await telling(team, 'save a snapshot of', async () => {
        const found = await findTeam(encoded);
        const meant = known.get(team)?.subject ?? found?.subject;
        if (found && found.subject === meant) await snapshots.save(found, snapshot);
      });
    },

    async teams() {
      assertOpen();
      return explaining(link.place, 'list the teams', () => listTeams(link, begun));
    },

    async drop(team) {
      assertOpen();
      await turns.run(team, () => telling(team, 'drop', () => drop(team)));
    },

    close() {
      closed ??= turns.drained().then(async () => {
        closing.abort();
        bells.close();
        mark?.close();
        await link.nc.close();
      });
      return closed;
    },
  };
}
