import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../temporary-folder.ts';

/** A team whose only member works until the file `go` exists. */
export function slowTeam(team: string, more = ''): { file: string; go: () => void } {
  const folder = temporaryFolder();
  const file = join(folder, 'troupe.yaml');
  const work = 'cat > /dev/null; until test -e go; do sleep 0.1; done; echo done';
  writeFileSync(
    file,
    `team: ${team}
members:
  - { name: ann, agent: { exec: [sh, -c, '${work}'] } }
tasks:
  - { id: a, title: A first thing with a title that does not fit into a narrow terminal, assign: ann }
  - { id: b, title: Another thing, assign: ann, needs: [a] }
${more}`,
  );
  return { file, go: () => writeFileSync(join(folder, 'go'), '') };
}
