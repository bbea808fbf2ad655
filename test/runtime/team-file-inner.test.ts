import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { specIn } from '../../src/runtime/team-file/agents.ts';
import { innerFileOf, readTeamFile } from '../../src/runtime/team-file/inner.ts';
import type { WholeFile } from '../../src/runtime/team-file/inner.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const LED = 'lead: { agent: claude }\n';

/** Writes files into a folder, and reads its `troupe.yaml`. */
function read(files: Readonly<Record<string, string>>, folder = temporaryFolder()): WholeFile {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return readTeamFile(files['troupe.yaml'] ?? '', 'troupe.yaml', folder);
}

const member = (to: string, more = ''): string => `members:\n  - { name: rev, agent: { team: ${to} }${more} }\n`;
const outer = (to: string, more = ''): string => `team: alpha\n${member(to, more)}`;

describe('a team file that names another', () => {
  test('takes the texts of all teams inside it along, so that later changes on the disk change nothing', () => {
    const folder = temporaryFolder();
    const { file, parts } = read(
      {
        'troupe.yaml': `team: alpha\nmembers:\n  - { name: rev, agent: { team: ./review/troupe.yaml }, cwd: src }\n`,
        'review/troupe.yaml': `team: review\n${LED}${member('../deep.yaml')}`,
        'deep.yaml': `team: deep\n${LED}`,
      },
      folder,
    );
    expect(parts.map(({ name, within }) => [name, within.join('/')])).toEqual([
      ['troupe.yaml', ''],
      ['review/troupe.yaml', 'rev'],
      ['deep.yaml', 'rev/rev'],
    ]);
    writeFileSync(join(folder, 'review/troupe.yaml'), 'team: other\n');
    writeFileSync(join(folder, 'deep.yaml'), 'team: other\n');
    const [entry] = file.members;
    const { kind, team } = specIn(file, entry as NonNullable<typeof entry>);
    expect(kind).toBe('team');
    const inner = innerFileOf(team as NonNullable<typeof team>);
    // Paths in it are relative to where the member works.
    expect(inner).toMatchObject({ folder: join(folder, 'src'), file: { team: 'review' } });
    const [deeper] = inner.file.members;
    const spec = specIn(inner.file, deeper as NonNullable<typeof deeper>);
    expect(innerFileOf(spec.team as NonNullable<typeof spec.team>).file.team).toBe('deep');
  });

  test.each([
    ['a missing file', './no.yaml', 'troupe.yaml:3:33: there is no team file "./no.yaml"'],
    ['an absolute path', '/etc/passwd', 'troupe.yaml:3:33: name the team file relative to the folder of this file'],
    ['a file elsewhere', '../../../etc/passwd', 'leads out of'],
    ['a link that leads elsewhere', './link.yaml', 'leads out of'],
    ['a folder', './sub', '"./sub" cannot be read: it is no file'],
    ['itself', './troupe.yaml', 'these teams would run each other: troupe.yaml › troupe.yaml'],
    ['itself by a link', './self.yaml', 'these teams would run each other: troupe.yaml › troupe.yaml'],
    [
      'a file that names it',
      './back.yaml',
      'back.yaml:4:33: these teams would run each other: troupe.yaml › back.yaml',
    ],
    ['a team that nobody leads', './unled.yaml', 'unled.yaml:1:7: a team inside a member needs an agent that leads'],
    ['a team with a branch of its own', './into.yaml', 'into.yaml:3:15: a team inside a member works as that member'],
    ['a file with a mistake', './bad.yaml', 'bad.yaml:3:1'],
  ])('refuses %s', (_what, to, said) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'sub'));
    symlinkSync('/etc/passwd', join(folder, 'link.yaml'));
    symlinkSync('troupe.yaml', join(folder, 'self.yaml'));
    const files = {
      'troupe.yaml': outer(to),
      'back.yaml': `team: back\n${LED}${member('./troupe.yaml')}`,
      'unled.yaml': 'team: unled\n',
      'into.yaml': `team: into\n${LED}work: { into: main }\n`,
      'bad.yaml': `team: bad\n${LED}membrs: []\n`,
    };
    expect(() => read(files, folder)).toThrow(said);
  });

  test('refuses one level more than the limit, which the outermost team sets', () => {
    const chain = (limits: string): Record<string, string> => ({
      'troupe.yaml': `${limits}${outer('./a.yaml')}`,
      'a.yaml': `team: a\n${LED}limits: { depth: 4 }\n${member('./b.yaml')}`,
      'b.yaml': `team: b\n${LED}${member('./c.yaml')}`,
      'c.yaml': `team: c\n${LED}`,
    });
    expect(() => read(chain(''))).toThrow(
      'b.yaml:4:33: teams may be 2 deep here, and this is one more: raise limits.depth of troupe.yaml, or flatten it',
    );
    expect(read(chain('limits: { depth: 3 }\n')).parts).toHaveLength(4);
    expect(() =>
      read({ 'troupe.yaml': `limits: { depth: 0 }\n${outer('./c.yaml')}`, 'c.yaml': `team: c\n${LED}` }),
    ).toThrow('teams may be 0 deep here');
  });

  test('has its sandbox of all members in the teams inside it, unless their files say something else', () => {
    const { file, parts } = read({
      'troupe.yaml': `sandbox: true\n${outer('./a.yaml')}`,
      'a.yaml': `team: a\n${LED}${member('./b.yaml')}`,
      'b.yaml': `team: b\nsandbox: { network: none }\n${LED}`,
    });
    expect(parts.map((part) => part.file.sandbox)).toEqual([true, true, { network: 'none' }]);
    const teamIn = (inside: typeof file): ReturnType<typeof innerFileOf> => {
      const [entry] = inside.members;
      const { team } = specIn(inside, entry as NonNullable<typeof entry>);
      return innerFileOf(team as NonNullable<typeof team>);
    };
    const a = teamIn(file);
    expect(specIn(a.file, a.file.lead as { agent: 'claude' })).toMatchObject({ sandbox: true });
    expect(teamIn(a.file).file.sandbox).toEqual({ network: 'none' });
  });

  test('refuses a team as a lead or a fallback, and settings that belong to its members', () => {
    const inner = { 'c.yaml': `team: c\n${LED}` };
    expect(() => read({ 'troupe.yaml': 'team: a\nlead: { agent: { team: ./c.yaml } }\n', ...inner })).toThrow(
      'troupe.yaml:2:24: a team cannot lead',
    );
    expect(() => read({ 'troupe.yaml': outer('./c.yaml', ', model: opus'), ...inner })).toThrow(
      'model belongs to the members of that team: set it in its file',
    );
    // Ignored, it would leave the members of that team without one.
    expect(() => read({ 'troupe.yaml': outer('./c.yaml', ', sandbox: true'), ...inner })).toThrow(
      'sandbox belongs to the members of that team: set it in its file',
    );
    const fallback =
      'team: a\nagents: { deep: { agent: { team: ./c.yaml } } }\nmembers:\n  - { name: x, agent: claude, onLimit: { fallback: [deep] } }\n';
    expect(() => read({ 'troupe.yaml': fallback, ...inner })).toThrow('deep cannot stand in: it is a team');
  });
});
