import type { Client } from '../../../client/client.ts';
import type { InputOf, OperationName, ResultOf } from '../../../operations/index.ts';

type Read = InputOf<'record.read'>['name'] & OperationName;

/** Reads parts of one team, without secrets. */
export interface Source {
  readonly teamId: string;
  readonly signal: AbortSignal;
  read<N extends Read>(name: N, input: Omit<InputOf<N>, 'teamId'>): Promise<ResultOf<N>>;
  /** A page of a list, and where the next one begins. */
  page<N extends Read>(
    name: N,
    input: Omit<InputOf<N>, 'teamId'>,
  ): Promise<{ readonly answer: ResultOf<N>; readonly after?: string | number | undefined }>;
  /** Tells a person how far it is, now and then. */
  tell(text: string): void;
}

/** A source that asks the daemon. */
export function openSource(
  client: Client,
  { teamId, signal, tell }: Pick<Source, 'teamId' | 'signal' | 'tell'>,
): Source {
  const page: Source['page'] = async (name, input) => {
    const found = await client.call('record.read', { teamId, name, input }, { signal });
    return { answer: found.answer as ResultOf<typeof name>, after: found.after };
  };
  return { teamId, signal, tell, page, read: async (name, input) => (await page(name, input)).answer };
}
