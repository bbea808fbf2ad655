import { DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import { errors } from '@nats-io/transport-node';
import { TeamError } from '../../core/errors.ts';
import type { HostCard, Hosts } from '../hosts.ts';
import { ANSWER, isAnswer, isNobodyThere, toTeamError } from './errors.ts';
import { patiently, REQUEST_MS } from './link.ts';
import type { Link } from './link.ts';
import { decodeTeam } from './names.ts';

/** How long a daemon is taken for alive after it was last heard of. */
export const LEASE_MS = 30_000;

const NS_PER_MS = 1_000_000;

/** The cards of daemons: the last message on the subject of each, which the servers drop when it is too old. */
export async function openHosts(link: Link, { replicas }: { replicas: number }): Promise<Hosts> {
  const stream = link.names.hosts;
  const subject = (name: string) => link.names.host(name);
  const leaseMs = await ensureStream(link, { replicas, leaseMs: LEASE_MS });
  const decoder = new TextDecoder();

  async function telling<T>(doing: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw toTeamError(error, link.place, doing);
    }
  }

  return {
    leaseMs,

    async announce(card) {
      await telling(`renew the lease of ${card.name}`, () =>
        patiently({ ...link, patienceMs: leaseMs / 3 }, () =>
          link.js.publish(subject(card.name), JSON.stringify(card), { timeout: REQUEST_MS }),
        ),
      );
    },

    list: () =>
      telling('list the daemons', async () => {
        const { state } = await patiently(link, () => link.jsm.streams.info(stream, { subjects_filter: '>' }));
        const messages = await Promise.all(
          Object.keys(state.subjects ?? {}).map((one) =>
            patiently(link, () => link.jsm.streams.getMessage(stream, { last_by_subj: one })),
          ),
        );
        return messages
          .flatMap((message) => (message && message.data.length > 0 ? [message.json<HostCard>()] : []))
          .sort((a, b) => (a.name < b.name ? -1 : 1));
      }),

    async leave(name) {
      await telling(`take ${name} from the list of daemons`, () =>
        link.js.publish(subject(name), '', { timeout: REQUEST_MS }),
      );
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
        const reply = await link.nc.request(link.names.door(name), JSON.stringify(question), { timeout: timeoutMs });
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
            .then(() => handler(JSON.parse(decoder.decode(message.data))))
            .then((answer) => respond({ answer }))
            .catch((error: unknown) => respond({ error: explain(error) }));
        },
      });
      return () => subscription.unsubscribe();
    },

    onCard(listener) {
      const subscription = link.nc.subscribe(subject('*'), {
        callback(failure, message) {
          if (!failure && message.data.length > 0) listener(message.json<HostCard>());
        },
      });
      return () => subscription.unsubscribe();
    },

    onTeam(listener) {
      const subscription = link.nc.subscribe(link.names.bells, {
        callback(failure, message) {
          const team = failure ? undefined : decodeTeam(message.subject.split('.').at(-1) ?? '~');
          if (team !== undefined) listener(team);
        },
      });
      return () => subscription.unsubscribe();
    },
  };
}

interface Reply {
  readonly answer?: unknown;
  readonly error?: { readonly code: TeamError['code']; readonly message: string };
}

function explain(error: unknown): NonNullable<Reply['error']> {
  if (error instanceof TeamError) return { code: error.code, message: error.message };
  return { code: 'internal', message: error instanceof Error ? error.message : String(error) };
}

/** Makes the place for the cards; returns how long they last, which is the same for all daemons. */
async function ensureStream(link: Link, { replicas, leaseMs }: { replicas: number; leaseMs: number }): Promise<number> {
  const name = link.names.hosts;
  const ensure = async (): Promise<number> => {
    try {
      const { config } = await link.jsm.streams.info(name);
      return config.max_age / NS_PER_MS;
    } catch (error) {
      if (!isAnswer(error, ANSWER.streamNotFound)) throw error;
    }
    try {
      await link.jsm.streams.add({
        name,
        subjects: [link.names.host('>')],
        storage: StorageType.File,
        retention: RetentionPolicy.Limits,
        discard: DiscardPolicy.Old,
        max_msgs_per_subject: 1,
        max_age: leaseMs * NS_PER_MS,
        // It may not be longer than the messages last.
        duplicate_window: Math.min(leaseMs, 120_000) * NS_PER_MS,
        num_replicas: replicas,
        allow_direct: false,
      });
    } catch (error) {
      // Another daemon was first; its lease holds.
      if (!isAnswer(error, ANSWER.streamNameInUse)) throw error;
      return (await link.jsm.streams.info(name)).config.max_age / NS_PER_MS;
    }
    return leaseMs;
  };
  // What another daemon is making may have its name already and not be there yet.
  return patiently(link, ensure, (error) => isAnswer(error, ANSWER.streamNotFound));
}

/** Changes how long the cards of daemons last. */
export async function changeLease(link: Link, settings: { replicas: number; leaseMs: number }): Promise<void> {
  await ensureStream(link, settings);
  const max_age = settings.leaseMs * NS_PER_MS;
  await patiently(link, () =>
    link.jsm.streams.update(link.names.hosts, {
      num_replicas: settings.replicas,
      max_age,
      duplicate_window: Math.min(settings.leaseMs, 120_000) * NS_PER_MS,
    }),
  );
}
