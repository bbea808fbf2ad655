import type { Benchmark } from './benchmark.ts';
import { claimDurable } from './claim-durable.ts';
import { claimFlat } from './claim-flat.ts';
import { open } from './open.ts';
import { sendDurable } from './send-durable.ts';

/** Every benchmark, in the order in which they run. */
export const ALL: readonly Benchmark[] = [claimDurable, claimFlat, sendDurable, open];
