import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ResultOf } from '../../src/operations/index.ts';
import { notifyOf } from '../../src/runtime/team-file/notify.ts';
import { openHouse } from '../mcp/house.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const SOURCE = `team: noisy
notify:
  command: [./tell.sh, --loud]
  webhook: { url: 'https://example.org/\${HOOK}', template: slack }
  on: [done]
`;

test('where a team file sends notices is approved by content, and the team starts without that', async () => {
  const house = openHouse();
  const folder = temporaryFolder();
  const script = join(folder, 'tell.sh');
  writeFileSync(script, '#!/bin/sh\n');
  chmodSync(script, 0o700);
  const given = { source: SOURCE, name: 'troupe.yaml', folder };
  const unapproved = async () => (await house.call<ResultOf<'team.check'>>('team.check', given)).unapproved;
  const asked = await unapproved();
  expect(asked).toMatchObject([
    {
      type: 'notify',
      command: './tell.sh --loud\nposts notices of the team to https://example.org/${HOOK} (slack)',
      env: ['HOOK'],
      files: [script],
      changed: false,
    },
  ]);
  const { metadata } = await house.call<ResultOf<'team.up'>>('team.up', given);
  expect(metadata?.['notify']).toMatchObject({ command: ['./tell.sh', '--loud'], on: ['done'] });
  expect(await unapproved()).toHaveLength(1);
  await house.call('team.up', { ...given, approve: asked.map(({ hash }) => hash) });
  expect(await unapproved()).toEqual([]);
  // Other hours and kinds need no new approval; another script does.
  given.source = SOURCE.replace('[done]', '[done, failed]');
  expect(await unapproved()).toEqual([]);
  writeFileSync(script, '#!/bin/sh\nother\n');
  expect(await unapproved()).toMatchObject([{ type: 'notify', changed: true, changedFiles: [script] }]);
  given.source = 'team: noisy\n';
  const quiet = await house.call<ResultOf<'team.up'>>('team.up', given);
  expect(quiet.metadata).not.toHaveProperty('notify');
});

test('an approval covers the address, and the folder in which the command runs', () => {
  const hash = (url: string, folder = temporaryFolder()) =>
    notifyOf({ notify: { webhook: { url, template: 'json' } } }, folder)?.hash;
  const folder = temporaryFolder();
  expect(hash('https://a.example', folder)).toBe(hash('https://a.example', folder));
  expect(hash('https://a.example', folder)).not.toBe(hash('https://b.example', folder));
  expect(hash('https://a.example')).not.toBe(hash('https://a.example'));
});
