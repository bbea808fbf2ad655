// Stands in for src/agents/process-table.ts: the processes of the simulated machine that asks.
import type { ProcessTable } from '../../../src/agents/process-table.ts';
import { bootIdOf, find, marked, table } from '../processes.ts';
import { scheduler } from '../scheduler.ts';

export function openProcessTable(): ProcessTable {
  const here = (): string => scheduler.owner().machine;
  return {
    everyMs: 250,
    find(pid) {
      const process = find(here(), pid);
      if (process) return { startTime: process.startTime, isZombie: process.exit !== undefined };
      return isOther(pid) ? { startTime: String(pid), isZombie: false } : undefined;
    },
    bootId: () => bootIdOf(here()),
    withVariable: () => marked(here()),
    cpuMs: () => 0,
    all: () => [],
    environmentOf: () => undefined,
    space: () => '',
    openFiles: () => ({ open: 0, limit: 1_024 }),
  };
}

/** A daemon itself, or a process of Claude Code. */
function isOther(pid: number): boolean {
  return scheduler.owner().pid === pid || table.others.get(pid)?.isAlive === true;
}
