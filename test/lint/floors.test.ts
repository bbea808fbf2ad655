import { beforeAll, describe, expect, test } from 'vitest';
import { lint } from './oxlint.ts';
import type { Finding } from './oxlint.ts';

/** A file, a module that it imports, and part of the message that refuses the import; none if it is allowed. */
type Import = readonly [file: string, specifier: string, refusal?: string];

const ALONE = 'the core knows zod and itself';
const BELOW = 'only from floors below';
const ADAPTER = 'never know another adapter';
const CONCRETE = 'is a concrete adapter';
const CLIENT = 'through src/client/ alone';
const WING = 'in src/cli/';
const NODE = 'needs Node';
const NOBODY = 'no other room imports it';
const NOWHERE = 'is in no room';

const IMPORTS: readonly Import[] = [
  ['src/core/rules/claim.ts', 'zod'],
  ['src/core/rules/claim.ts', 'zod/mini'],
  ['src/core/rules/claim.ts', '../task.ts'],
  ['src/core/rules/claim.ts', 'node:fs', ALONE],
  ['src/core/rules/claim.ts', 'ws', ALONE],
  ['src/core/rules/claim.ts', 'zodiac', ALONE],
  ['src/core/rules/claim.ts', '../../journal/journal.ts', BELOW],
  ['src/core/rules/claim.ts', '../../ledger/ledger.ts', BELOW],
  ['src/core/rules/claim.ts', '../../index.ts', BELOW],

  ['src/journal/sqlite.ts', 'node:sqlite'],
  ['src/journal/sqlite.ts', '../core/event.ts'],
  ['src/journal/sqlite.ts', './journal.ts'],
  ['src/journal/sqlite.ts', './sqlite/rows.ts'],
  ['src/journal/sqlite.ts', './memory.ts', ADAPTER],
  ['src/journal/sqlite.ts', './nats/stream.ts', ADAPTER],
  ['src/journal/sqlite.ts', '../agents/agent.ts', BELOW],
  ['src/journal/sqlite.ts', '../ledger/ledger.ts', BELOW],
  ['src/journal/sqlite/rows.ts', '../journal.ts'],
  ['src/journal/sqlite/rows.ts', '../sqlite.ts'],
  ['src/journal/sqlite/rows.ts', '../memory.ts', ADAPTER],
  ['src/journal/journal.ts', './memory.ts', ADAPTER],
  ['src/agents/acp/client.ts', '../agent.ts'],
  ['src/agents/acp/client.ts', '@agentclientprotocol/sdk'],
  ['src/agents/acp/client.ts', '../claude.ts', ADAPTER],
  ['src/agents/acp/client.ts', '../../journal/journal.ts', BELOW],
  ['src/terminals/tmux.ts', './terminal.ts'],
  ['src/terminals/tmux.ts', './iterm2.ts', ADAPTER],
  ['src/workspaces/clone/work.ts', '../depot/saves.ts'],
  ['src/workspaces/shared.ts', './clone.ts', ADAPTER],
  ['src/workspaces/depot.ts', './clone/work.ts', ADAPTER],
  ['src/runtime/teams.ts', '../workspaces/depot.ts'],
  ['src/runtime/teams.ts', '../workspaces/clone.ts', CONCRETE],

  ['src/ledger/ledger.ts', '../core/decide.ts'],
  ['src/ledger/ledger.ts', '../journal/journal.ts'],
  ['src/ledger/ledger.ts', '../journal/sqlite.ts', CONCRETE],
  ['src/ledger/ledger.ts', '../runtime/coordinator.ts', BELOW],
  ['src/ledger/ledger.ts', '../../test/tools.ts', NOWHERE],
  ['src/runtime/hooks/shell.ts', '../../ledger/ledger.ts'],
  ['src/runtime/hooks/shell.ts', '../../agents/agent.ts'],
  ['src/runtime/hooks/shell.ts', '../../agents/acp/client.ts', CONCRETE],
  ['src/runtime/hooks/shell.ts', '../../terminals/tmux.ts', CONCRETE],
  ['src/runtime/hooks/shell.ts', '../../bridge/sync.ts', BELOW],
  ['src/runtime/hooks/shell.ts', '../../operations/task.ts', BELOW],
  ['src/bridge/sync.ts', '../ledger/ledger.ts'],
  ['src/bridge/sync.ts', '../runtime/coordinator.ts', BELOW],
  ['src/operations/task.ts', '../runtime/coordinator.ts'],
  ['src/operations/task.ts', '../bridge/sync.ts'],
  ['src/operations/task.ts', '../server/http.ts', BELOW],
  ['src/operations/task.ts', '../mcp/tools.ts', BELOW],
  ['src/operations/task.ts', '../client/client.ts', BELOW],
  ['src/server/http.ts', '../operations/task.ts'],
  ['src/server/http.ts', '../mcp/tools.ts', BELOW],
  ['src/server/http.ts', '../client/client.ts', BELOW],
  ['src/server/http.ts', '../daemon.ts', BELOW],
  ['src/server/http.ts', '../index.ts', BELOW],
  ['src/server/http.ts', '../cli/main.ts', NOBODY],
  ['src/server/http.ts', '../../ui/app.ts', NOBODY],
  ['src/mcp/tools.ts', '../operations/task.ts'],
  ['src/mcp/tools.ts', '../server/http.ts', BELOW],
  ['src/client/client.ts', '../operations/task.ts'],
  ['src/client/client.ts', '../server/http.ts', BELOW],
  ['src/attic/trunk.ts', '../core/task.ts', NOWHERE],

  ['src/daemon.ts', './journal/sqlite.ts', CONCRETE],
  ['src/daemon/storage.ts', '../journal/sqlite.ts', CONCRETE],
  ['src/daemon/storage.ts', '../journals.ts'],
  ['src/daemon/storage.ts', '../daemon.ts', BELOW],
  ['src/teammate.ts', './agents/acp/client.ts'],
  ['src/daemon.ts', './server/http.ts'],
  ['src/daemon.ts', './cli/main.ts', NOBODY],
  ['src/index.ts', './journal/memory.ts'],
  ['src/index.ts', './daemon.ts'],
  ['src/index.ts', './cli/main.ts', NOBODY],
  ['src/cli/task.ts', 'citty'],
  ['src/cli/task.ts', './main.ts'],
  ['src/cli/task.ts', '../client/client.ts'],
  ['src/cli/commands/serve.ts', '../../daemon.ts'],
  ['src/cli/main.ts', './commands/serve.ts'],
  ['src/cli/commands/up.ts', '../reach/connect.ts'],
  ['src/cli/commands/up.ts', '../main.ts', WING],
  ['src/cli/reach/connect.ts', '../show/text.ts'],
  ['src/cli/reach/connect.ts', '../line/find.ts', WING],
  ['src/cli/reach/connect.ts', '../commands/up.ts', WING],
  ['src/cli/line/help.ts', '../show/text.ts'],
  ['src/cli/line/help.ts', '../../operations/index.ts', CLIENT],
  ['src/cli/line/texts.ts', '../../operations/index.ts'],
  ['src/cli/line/help.ts', '../commands/table.ts', WING],
  ['src/cli/show/views/task.ts', '../text.ts'],
  ['src/cli/show/views/task.ts', '../../line/find.ts', WING],
  ['src/cli/task.ts', '../core/errors.ts'],
  ['src/cli/task.ts', '../agents/process.ts'],
  ['src/cli/task.ts', '../agents/turns.ts', CLIENT],
  ['src/cli/task.ts', '../ledger/ledger.ts', CLIENT],
  ['src/cli/task.ts', '../daemon.ts', CLIENT],
  ['src/cli/task.ts', '../daemon/storage.ts', CLIENT],
  ['ui/views/board.ts', '../app.ts'],
  ['ui/views/board.ts', '../../src/client/client.ts'],
  ['ui/views/board.ts', '../../src/client/replica.ts'],
  ['ui/views/board.ts', '../../src/client/socket.ts', NODE],
  ['ui/views/board.ts', '../../src/core/task.ts', CLIENT],

  ['test/ledger.test.ts', '../src/journal/memory.ts'],
  ['bench/main.ts', '../src/journal/sqlite.ts'],
  ['examples/census.ts', '../src/journal/sqlite.ts'],
];

/** Other ways to import, which the rule must see (or allow) as well. */
const FORMS: readonly Import[] = [
  [`src/ledger/form.ts`, `import '../runtime/x.ts';`, BELOW],
  [`src/ledger/form.ts`, `export * from '../runtime/x.ts';`, BELOW],
  [`src/ledger/form.ts`, `export const load = (): Promise<unknown> => import('../runtime/x.ts');`, BELOW],
  [`src/ledger/form.ts`, `export type { A } from '../runtime/x.ts';`, BELOW],
  [`src/ledger/form.ts`, `export type B = import('../runtime/x.ts').B;`, BELOW],
  [`src/cli/form.ts`, `export type { A } from '../core/x.ts';`],
  [`src/cli/form.ts`, `export type B = import('../daemon.ts').B;`],
  [`ui/form.ts`, `export type { A } from '../src/core/x.ts';`],
];

describe('the floors of the house', () => {
  let findings: Finding[] = [];
  const files = new Map<string, string>();

  /** Puts each import on a line of its own, whose number identifies its findings. */
  const place = (file: string, code: string) => {
    const text = files.get(file) ?? '';
    files.set(file, `${text}${code}\n`);
    return text.split('\n').length;
  };
  const placed = [
    ...IMPORTS.map(([file, specifier, refusal], index) => {
      const line = place(file, `export { x${index} } from '${specifier}';`);
      return { file, line, what: specifier, refusal };
    }),
    ...FORMS.map(([file, code, refusal]) => ({ file, line: place(file, code), what: code, refusal })),
  ];

  beforeAll(() => {
    findings = lint(files).filter(({ rule }) => rule === 'house(floors)');
  });

  const at = (wanted: { file: string; line: number }) =>
    findings.filter(({ file, line }) => file === wanted.file && line === wanted.line);

  test.each(placed.filter(({ refusal }) => refusal))('$file must not have: $what', ({ file, line, refusal }) => {
    expect(at({ file, line })).toEqual([expect.objectContaining({ text: expect.stringContaining(`${refusal}`) })]);
  });

  test.each(placed.filter(({ refusal }) => !refusal))('$file may have: $what', ({ file, line }) => {
    expect(at({ file, line })).toEqual([]);
  });
});
