import type { Arguments, Surroundings } from '../line/command.ts';
import { openClient } from '../reach/connect.ts';
import { reportMarkdown, reportText } from '../show/report.ts';
import { print, toJson } from '../show/write.ts';

/** Shows what a team did, who did it, what it cost, what went wrong and what waits. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { teamId, markdown = false } = given.input as { teamId: string; markdown?: boolean };
  const client = openClient(environment);
  try {
    const report = await client.call('team.report', { teamId }, { signal });
    if (given.json) print(toJson(report, screen.isTerminal ? 2 : undefined));
    else {
      // Work that cannot be looked at must not hide the rest.
      const work = report.landed && (await client.call('work.show', { teamId }, { signal }).catch(() => undefined));
      print(markdown ? reportMarkdown(report, work) : reportText(report, screen, work));
    }
    return 0;
  } finally {
    client.close();
  }
}
