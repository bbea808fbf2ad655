import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../../src/client/client.ts';
import { CallError } from '../../../src/client/errors.ts';
import type { Home } from '../../../src/client/home.ts';
import { makeRepository } from '../../workspaces/project.ts';

/** What the load is put on, and what it is made of. */
export interface Ground {
  readonly home: Home;
  readonly url: string;
  readonly client: Client;
  readonly random: () => number;
  /** A plain folder and a git repository, in which teams are brought up. */
  readonly project: string;
  readonly repository: string;
  /** The programs of members and gates. */
  readonly agent: string;
  readonly gate: string;
  /** What no client may hear. The load goes on, so that hours are not lost, and fails in the end. */
  readonly problems: string[];
  /** How often what was done, by name. */
  readonly counts: Map<string, number>;
}

/** A member's program: it reads its turn, changes a file of its own if it works apart, and is done. */
const AGENT = `cat > /dev/null
if [ -n "$TROUPE_TASK_ID" ] && [ -d .git ]; then
  mkdir -p work
  for i in 1 2 3; do echo "task $TROUPE_TASK_ID, line $i" >> "work/$TROUPE_TASK_ID"; done
fi
echo done
`;

/** A gate that sends the third task of each team back once. Its marks are beside it, so that its command is always the same. */
const GATE = `asked=$(cat)
case "$asked" in *'"taskId":"3"'*) ;; *) exit 0 ;; esac
team=$(echo "$asked" | sed 's/.*"teamId":"\\([^"]*\\)".*/\\1/')
[ ! -e "$(dirname "$0")/marks/$team" ] || exit 0
touch "$(dirname "$0")/marks/$team"
echo 'Once more' >&2
exit 2
`;

export function prepareGround(
  folder: string,
  { home, url, client, random }: Pick<Ground, 'home' | 'url' | 'client' | 'random'>,
): Ground {
  const [project, repository] = [join(folder, 'project'), join(folder, 'repository')];
  for (const path of [project, join(folder, 'marks')]) mkdirSync(path);
  const [agent, gate] = [join(folder, 'agent.sh'), join(folder, 'gate.sh')];
  writeFileSync(agent, AGENT);
  writeFileSync(gate, GATE);
  makeRepository(repository, { 'README.md': 'A project\n', 'src/a.ts': 'export const a = 1;\n' });
  return { home, url, client, random, project, repository, agent, gate, problems: [], counts: new Map() };
}

export function count({ counts }: Ground, what: string, times = 1): void {
  counts.set(what, (counts.get(what) ?? 0) + times);
}

/** Does what may be refused at this moment, because a member was just killed or has no folder yet. Its client does without it then. */
export async function attempt(on: Ground, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof CallError) || error.code === 'internal' || error.code === 'corrupt') throw error;
    count(on, 'refused');
  }
}

/** Waits as a client that polls. A machine that is busy for minutes is no failure, a hang is. */
export async function waitFor(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const from = performance.now();
  for (let pause = 50; !(await isSo()); pause = Math.min(pause * 1.5, 1_000)) {
    if (performance.now() - from > PATIENCE_MS) throw new Error(`Waited ${PATIENCE_MS / 60_000} min in vain: ${what}`);
    await sleep(pause);
  }
}

const PATIENCE_MS = 15 * 60_000;
