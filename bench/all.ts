import type { Benchmark } from './benchmark.ts';
import { bridgeClaim } from './bridge-claim.ts';
import { claimDurable } from './claim-durable.ts';
import { claimFlat } from './claim-flat.ts';
import { claimSingle } from './claim-single.ts';
import { cliStart } from './cli-start.ts';
import { dashboard } from './dashboard.ts';
import { exportPage } from './export.ts';
import { install } from './install.ts';
import { jetstream } from './jetstream.ts';
import { landLatency } from './land-latency.ts';
import { leadTokens } from './lead-tokens.ts';
import { mergeQueue } from './merge-queue.ts';
import { open } from './open.ts';
import { overlap } from './overlap.ts';
import { push } from './push.ts';
import { sendDurable } from './send-durable.ts';
import { teammateCost } from './teammate-cost.ts';
import { workspaceOpen } from './workspace-open.ts';
import { workspaceSave } from './workspace-save.ts';

/** Every benchmark, in the order in which they run. */
export const ALL: readonly Benchmark[] = [
  claimDurable,
  claimFlat,
  sendDurable,
  open,
  claimSingle,
  push,
  cliStart,
  teammateCost,
  leadTokens,
  jetstream,
  dashboard,
  bridgeClaim,
  workspaceOpen,
  workspaceSave,
  overlap,
  mergeQueue,
  landLatency,
  exportPage,
  install,
];
