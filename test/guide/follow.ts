import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { TestContext } from 'vitest';
import type { Machine } from '../package/machine.ts';
import { step } from '../setup/steps.ts';
import { readBlocks } from './page.ts';
import type { Block } from './page.ts';
import { Reader } from './reader.ts';

/** The commands by which the guide installs Troupe, without remarks. */
export function readInstallation(): string[] {
  const page = readFileSync(join(import.meta.dirname, '../../docs/guide.md'), 'utf8');
  const [install] = readBlocks(page);
  expect(install).toMatchObject({ section: 1, language: 'sh' });
  return (install as Block).lines.map((line) => line.replace(/ +#.*/, ''));
}

/** Does all that the guide says after the installation, on a machine that has it. */
export async function followGuide(context: TestContext, machine: Machine): Promise<void> {
  const reader = new Reader(context, machine);
  const section = (number: number, act: () => Promise<void>): Promise<void> => {
    return step(context, `guide, section ${number}`, act);
  };
  const [, ...check] = reader.blocks.filter((block) => block.section === 1);
  await section(1, async () => {
    for (const block of check) await reader.do(block);
  });
  await section(2, () => reader.follow(2));
  reader.meetFirst();
  for (const number of [3, 4, 5, 6, 7]) await section(number, () => reader.follow(number));
  await section(8, () => useAgents(reader));
  await section(9, () => reader.follow(9));
}

/** Section 8: two goals of a team of real agents. */
async function useAgents(reader: Reader): Promise<void> {
  const blocks = reader.blocks.filter(({ section }) => section === 8);
  const [agents, down, goal, file, permission] = blocks as [Block, Block, Block, Block, Block];
  await reader.do(agents);
  await reader.logIn();
  await reader.do(down);
  await reader.do(goal);
  await reader.ended();
  await reader.sees(['The auth module is fine.']);

  // The reader adapts the file: this repository has tests.
  reader.write('package.json', JSON.stringify({ scripts: { test: 'test -e search.txt' } }));
  await reader.run('git add . && git commit -qm "Tests"');
  await reader.do(file);
  await reader.run('troupe up', { yes: 1 });
  await reader.look('troupe approve', ['plan of builder (team search, 2 s ago)']);
  await reader.run('troupe approve builder', { in: 2 });
  await reader.do({ ...permission, said: 'In another terminal' });
  await reader.sees(['3 of 3 tasks completed in 23.4 s.…']);
  // Else uninstalling would name it, as work that only Troupe has.
  await reader.run('troupe merge --team search');
  await reader.ended();
}
