import type { StoredMsg } from '@nats-io/jetstream';
import { errors } from '@nats-io/transport-node';
import { TeamError } from '../../core/errors.ts';
import { nameTaken } from '../hosts.ts';
import type { HostCard, Hosts } from '../hosts.ts';
import { explaining, isNobodyThere, isWrongSequence } from './errors.ts';
import { ensureStream, LEASE_MS, leaseIn } from './lease.ts';
import { acknowledging, patiently } from './link.ts';
import type { Link } from './link.ts';
import { decodeTeam, lastWord } from './names.ts';
import { REQUEST_MS } from './reach.ts';

/** The cards of daemons: the last message on each one's subject. The servers remove it when it is too old. */
export async function openHosts(anyLink: Link, { replicas }: { replicas: number }): Promise<Hosts> {
  const link: Link = { ...anyLink, persists: true };
  const stream = link.names.hosts;
  const subject = (name: string) => link.names.host(name);
  let leaseMs = leaseIn(await ensureStream(link, { replicas, leaseMs: LEASE_MS }));
  const decoder = new TextDecoder();
  /** The sequence of our own card, by name. */
  const own = new Map<string, number>();
  let unheard = 0;

  /**
   * Publishes only after our own card, or where none is. A card that was sent before a pause may arrive after another
   * daemon took the name, and must not replace its card.
   */
  async function publishCard(card: HostCard, replaces: HostCard | undefined): Promise<void> {
    for (;;) {
      const expected = own.get(card.name) ?? (await sequenceFor(card, replaces));
      try {
        const { seq } = await acknowledging(link, () =>
          link.js.publish(subject(card.name), JSON.stringify(card), {
            expect: { lastSubjectSequence: expected },
            timeout: REQUEST_MS,
          }),
        );
        own.set(card.name, seq);
        return;
      } catch (error) {
        if (!isWrongSequence(error)) throw error;
        own.delete(card.name);
      }
    }
  }

  /** The sequence of the card that ours may replace, 0 if there is none. */
  async function sequenceFor(card: HostCard, replaces: HostCard | undefined): Promise<number> {
    const message = await link.jsm.streams.getMessage(stream, { last_by_subj: subject(card.name) });
    if (!message) return 0;
    const there = cardIn(message);
    if (!there || isSame(there, card) || (replaces && isSame(there, replaces))) return message.seq;
    throw nameTaken(card.name);
  }

  /** Gives up while other daemons still see the card. */
  const hasty = (): Link => ({ ...link, patienceMs: leaseMs / 3 });

  const telling = <T>(doing: string, work: () => Promise<T>) => explaining(link.place, doing, work);

  return {
    get leaseMs() {
      return leaseMs;
    },

    readLease: () =>
      telling('read the lease', async () => {
        leaseMs = leaseIn((await patiently(hasty(), () => link.jsm.streams.info(stream))).config);
        return leaseMs;
      }),

    async announce(card, { replaces } = {}) {
      await telling(`renew the lease of ${card.name}`, () => patiently(hasty(), () => publishCard(card, replaces)));
    },

    list: () => telling('list the daemons', () => listCards(link)),

    async leave(name) {
      const expected = own.get(name);
      if (expected === undefined) return;
      await telling(`take ${name} from the list of daemons`, async () => {
        try {
          await link.js.publish(subject(name), '', {
            expect: { lastSubjectSequence: expected },
            timeout: REQUEST_MS,
          });
        } catch (error) {
          // It expired, or another daemon took the name.
          if (!isWrongSequence(error)) throw error;
        }
      });
    },

    isConnected: (name) =>
      telling(`ask for the daemon ${name}`, async () => {
        try {
          await link.nc.request(link.names.door(name), '{}', { timeout: REQUEST_MS });
          return true;
        } catch (error) {
          if (error instanceof errors.TimeoutError) return true;
          if (isNobodyThere(error)) return false;
          throw error;
        }
      }),

    ask: (name, question, { timeoutMs }) =>
      telling(`ask the daemon ${name}`, async () => {
        const reply = await link.nc
          .request(link.names.door(name), JSON.stringify(question), { timeout: timeoutMs })
          .catch((error: unknown) => {
            throw isNobodyThere(error) || error instanceof errors.TimeoutError ? noAnswer(name, error) : error;
          });
        const { error, answer } = JSON.parse(decoder.decode(reply.data)) as Reply;
        if (error) throw new TeamError(error.code, error.message);
        return answer;
      }),

    answer(name, handler) {
      const subscription = link.nc.subscribe(link.names.door(name), {
        callback(failure, message) {
          if (failure) return;
          const respond = (reply: Reply) => void message.respond(JSON.stringify(reply));
          void Promise.resolve()
            .then(() => JSON.parse(decoder.decode(message.data)) as unknown)
            .then((question) => (isHearing(question) ? true : handler(question)))
            .then((answer) => respond({ answer }))
            .catch((error: unknown) => respond({ error: explain(error) }));
        },
      });
      return () => subscription.unsubscribe();
    },

    checkHearing: (name) =>
      telling('hear what others ask', async () => {
        try {
          await link.nc.request(link.names.door(name), JSON.stringify(HEARING), { timeout: REQUEST_MS });
          unheard = 0;
          return true;
        } catch (error) {
          if (!isNobodyThere(error) && !(error instanceof errors.TimeoutError)) throw error;
          // While no server is reachable, other code handles that.
          if (link.reach.awaySince !== undefined || link.nc.isClosed() || ++unheard < DEAF) return false;
          unheard = 0;
          await link.nc.reconnect();
          return false;
        }
      }),

    onCard(listener) {
      const subscription = link.nc.subscribe(subject('*'), {
        callback(failure, message) {
          const card = failure ? undefined : cardIn(message);
          if (card) listener(card);
        },
      });
      return () => subscription.unsubscribe();
    },

    onTeam(listener) {
      const subscription = link.nc.subscribe(link.names.bells, {
        callback(failure, message) {
          const team = failure ? undefined : decodeTeam(lastWord(message.subject));
          if (team !== undefined) listener(team);
        },
      });
      return () => subscription.unsubscribe();
    },
  };
}

/** Whether two cards are of the same run of a daemon. */
function isSame(a: HostCard, b: HostCard): boolean {
  return a.home === b.home && a.instance === b.instance;
}

/** The question that a daemon asks itself. */
const HEARING = { hearing: true } as const;

/** Reconnect after this many failures in a row: a single one may just be a busy server. */
const DEAF = 2;

function isHearing(question: unknown): boolean {
  return typeof question === 'object' && question !== null && 'hearing' in question;
}

/** The servers are reachable, but the other machine does not answer. */
function noAnswer(name: string, cause: unknown): TeamError {
  return new TeamError(
    'storage',
    `The machine ${name} does not answer: check there with troupe status that its daemon runs and reaches the servers, or try again in a moment.`,
    { cause },
  );
}

interface Reply {
  readonly answer?: unknown;
  readonly error?: { readonly code: TeamError['code']; readonly message: string };
}

function explain(error: unknown): NonNullable<Reply['error']> {
  if (error instanceof TeamError) return { code: error.code, message: error.message };
  return { code: 'internal', message: error instanceof Error ? error.message : String(error) };
}

/** The cards on the servers, sorted by name. */
export async function listCards(link: Link): Promise<HostCard[]> {
  const stream = link.names.hosts;
  const { state } = await patiently(link, () => link.jsm.streams.info(stream, { subjects_filter: '>' }));
  const messages = await Promise.all(
    Object.keys(state.subjects ?? {})
      .sort()
      .map((one) => patiently(link, () => link.jsm.streams.getMessage(stream, { last_by_subj: one }))),
  );
  return messages.map(cardIn).filter((card) => card !== undefined);
}

/** The card in a message. A daemon that left has an empty one, and one that expired meanwhile none. */
function cardIn(message: Pick<StoredMsg, 'data' | 'json'> | null): HostCard | undefined {
  return message?.data.length ? message.json<HostCard>() : undefined;
}
