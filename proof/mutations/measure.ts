import { random } from '../../test/seed-numbers.ts';
import { copyAgain, copyProject } from './copy.ts';
import { coverMutants } from './cover.ts';
import type { Mutant } from './instrument.ts';
import { SLOW_MS, tryMutants } from './lane.ts';
import type { Fate } from './lane.ts';
import type { Room } from './rooms.ts';
import type { MutationScore } from './score.ts';

export interface Measured {
  /** How many mutants the room has. */
  readonly mutants: number;
  readonly fates: readonly { readonly mutant: Mutant; readonly fate: Fate }[];
  /** Tests that failed without a mutant. */
  readonly failed: readonly string[];
}

export interface MeasureOptions {
  readonly root: string;
  readonly seed: number;
  readonly sample: number;
  /** How many processes run tests at a time. */
  readonly lanes: number;
  readonly slowMs?: number;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** Tries a random sample of a room's mutants. */
export async function measureRoom(room: Pick<Room, 'sources' | 'tests'>, options: MeasureOptions): Promise<Measured> {
  const { root, seed, sample, lanes, signal, say, slowMs = SLOW_MS } = options;
  const copy = copyProject(root, room.sources);
  say(`${copy.mutants.length} mutants; runs the tests without one`);
  const coverage = await coverMutants(copy, room.tests, { seed, signal });
  say(`${coverage.tests.length} tests, ${coverage.testsOf.size} mutants reached by them`);
  const drawn = draw(copy.mutants, sample, seed);
  const fates = new Map<number, Fate>();
  const onFate = (id: number, fate: Fate): void => {
    fates.set(id, fate);
    if (fates.size % 50 === 0) say(`${fates.size} of ${drawn.length} tried`);
  };
  const copies = Array.from({ length: lanes }, (_, lane) => (lane === 0 ? copy : copyAgain(copy, room.sources)));
  await Promise.all(
    copies.map((each, lane) => {
      const own = drawn.filter((_, index) => index % lanes === lane).map(({ id }) => id);
      return tryMutants(each, own, { seed, signal, coverage, slowMs, onFate });
    }),
  );
  return {
    mutants: copy.mutants.length,
    fates: drawn.flatMap((mutant) => {
      const fate = fates.get(mutant.id);
      return fate ? [{ mutant, fate }] : [];
    }),
    failed: coverage.failed,
  };
}

/** A random sample: with another seed it is another one. */
function draw(mutants: readonly Mutant[], sample: number, seed: number): Mutant[] {
  const next = random(seed);
  const keyed = mutants.map((mutant) => ({ mutant, key: next() }));
  const drawn = keyed.sort((a, b) => a.key - b.key).slice(0, sample);
  return drawn.map(({ mutant }) => mutant).sort((a, b) => a.id - b.id);
}

/** How many mutants were killed, and which survived. */
export function scoreOf(room: string, { mutants, fates, failed }: Measured): MutationScore {
  const survivors = fates.filter(({ fate }) => fate === 'survived' || fate === 'not covered');
  return {
    room,
    mutants,
    sample: fates.length,
    killed: fates.length - survivors.length,
    hung: fates.filter(({ fate }) => fate === 'hang').length,
    survivors: survivors.map(({ mutant: { file, line, was, now }, fate }) => {
      return { file, line, was, now, isCovered: fate === 'survived' };
    }),
    unusable: [...failed],
  };
}
