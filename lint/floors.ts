import { dirname, join, relative, sep } from 'node:path';
import type { Rule, RuleContext, RuleNode } from './rule.ts';

/** The rooms of `src/`, from the ground up. A room imports only from floors below its own. */
const FLOORS: readonly (readonly string[])[] = [
  ['core'],
  ['journal', 'agents', 'terminals', 'workspaces'],
  ['ledger'],
  ['runtime', 'bridge'],
  ['operations'],
  ['server', 'mcp', 'client', 'teammate'],
  ['journals.ts', 'workspaces.ts'],
  ['daemon'],
  ['daemon.ts', 'embed.ts', 'teammate.ts', 'cli'],
  ['index.ts'],
];

/** The rooms that hold a port and its adapters, with the files in them that are not adapters. */
const PORTS: Readonly<Record<string, readonly string[]>> = {
  journal: [
    'away.ts',
    'conflict.ts',
    'file-address.ts',
    'hosts.ts',
    'journal.ts',
    'kernel-lock.ts',
    'listeners.ts',
    'mark.ts',
    'node-sqlite.ts',
    'packs.ts',
  ],
  agents: [
    'account.ts',
    'acp/agents.ts',
    'acp/gemini-trust.ts',
    'acp/opencode-server.ts',
    'acp/troubles.ts',
    'acp/waits.ts',
    'agent.ts',
    'alive.ts',
    'catalog.ts',
    'claude/team-tools.ts',
    'codex/tools.ts',
    'extras.ts',
    'live-program.ts',
    'login-state.ts',
    'logins.ts',
    'process-table.ts',
    'process.ts',
    'program.ts',
    'read-lines.ts',
    'row.ts',
    'sandbox/able.ts',
    'sandbox/box.ts',
    'sandbox/bubblewrap.ts',
    'sandbox/inside.ts',
    'sandbox/mounts.ts',
    'sandbox/network.ts',
    'sandbox/open.ts',
    'sandbox/proxy-variables.ts',
    'sandbox/seatbelt.ts',
    'sandbox/walls.ts',
    'sandbox/wrap.ts',
    'text.ts',
    'tokens.ts',
    'turns.ts',
    'user-home.ts',
  ],
  terminals: ['terminal.ts', 'run.ts'],
  workspaces: [
    'absent.ts',
    'attributes.ts',
    'bring-large-files.ts',
    'checkout.ts',
    'depot.ts',
    'depot/changes.ts',
    'depot/commit.ts',
    'depot/compare.ts',
    'depot/conflicts.ts',
    'depot/diff.ts',
    'depot/drafts.ts',
    'depot/filters.ts',
    'depot/handle.ts',
    'depot/lasting.ts',
    'depot/loose.ts',
    'depot/make.ts',
    'depot/merge.ts',
    'depot/origin.ts',
    'depot/packs.ts',
    'depot/patch.ts',
    'depot/refused.ts',
    'depot/repair.ts',
    'depot/saves.ts',
    'depot/small-packs.ts',
    'depot/tidy.ts',
    'git-environment.ts',
    'git-errors.ts',
    'git-process.ts',
    'git.ts',
    'in-the-way.ts',
    'merge-in.ts',
    'paths.ts',
    'leftovers.ts',
    'places.ts',
    'queue.ts',
    'recent.ts',
    'remote.ts',
    'remote/draft.ts',
    'remote/large-files.ts',
    'remote/settings.ts',
    'remote/words.ts',
    'remove-folder.ts',
    'sizes.ts',
    'stage.ts',
    'submodules.ts',
    'users-git.ts',
    'workspace.ts',
  ],
};

/** The only files that may name a concrete adapter. */
const ROOTS: readonly string[] = ['journals.ts', 'workspaces.ts', 'teammate.ts', 'index.ts'];

/** The rooms that reach the daemon only through `client/`. */
const GUESTS: readonly string[] = ['cli', 'ui'];

/** What a command may import besides the core without a daemon: processes, programs, paths, the version, the user's merge. */
const BESIDE: readonly string[] = [
  'src/agents/catalog.ts',
  'src/agents/process.ts',
  'src/agents/program.ts',
  'src/agents/sandbox/able.ts',
  'src/agents/user-home.ts',
  'src/bridge/layout.ts',
  'src/bridge/snapshot.ts',
  'src/journal/file-address.ts',
  'src/runtime/home.ts',
  'src/runtime/team-package.ts',
  'src/runtime/version.ts',
  'src/workspaces/bring-large-files.ts',
  'src/workspaces/merge-in.ts',
  'src/workspaces/users-git.ts',
];

/** What a build replaces by what comes out of it. */
const WORKED_OUT: readonly string[] = ['src/cli/line/texts.ts', 'src/cli/line/manifest.ts'];

/** The wings of `src/cli/`, from the ground up, and what each may import. Files beside the wings put them together. */
const WINGS: Readonly<Record<string, readonly string[]>> = {
  show: [],
  line: ['show'],
  reach: ['show'],
  commands: ['show', 'line', 'reach'],
};

/** The files of `client/` that a browser can load; the others need Node. */
const IN_BROWSERS: readonly string[] = [
  'client.ts',
  'errors.ts',
  'hunks.ts',
  'record.ts',
  'replica.ts',
  'websocket.ts',
];

/**
 * Commands that run without the daemon or beside it: the daemon itself, a teammate's process, the kill switch, panes,
 * copying and checking journals, services, and removing all of it. */
const PROCESSES = [
  'src/cli/commands/serve.ts',
  'src/cli/commands/teammate.ts',
  'src/cli/commands/stop-all.ts',
  'src/cli/commands/up/panes.ts',
  'src/cli/commands/journal.ts',
  'src/cli/commands/journal-accept.ts',
  'src/cli/reach/journal-place.ts',
  'src/cli/commands/doctor/journal.ts',
  'src/cli/commands/doctor/leftovers.ts',
  'src/cli/commands/service.ts',
  'src/cli/commands/uninstall/made.ts',
];

const HOUSE = dirname(import.meta.dirname);

/** Reports an import that goes up or across the floors. */
export const floors: Rule = {
  create(context) {
    const file = relative(HOUSE, context.filename).split(sep).join('/');
    if (!/^(src|ui)\//.test(file)) return {};
    const check = (node: RuleNode) => checkNode(context, file, node);
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
      TSImportType: check,
    };
  },
};

/** Says why `file` must not import `specifier`; undefined if it may. Paths are relative to the repository, with `/`. */
export function explainImport(file: string, specifier: string, typeOnly = false): string | undefined {
  const from = place(file);
  if (!specifier.startsWith('.')) return explainPackage(from, specifier);
  const to = place(join(dirname(file), specifier).split(sep).join('/'));

  if (from.room === 'ui' && to.room === 'ui') return undefined;
  for (const { room, path } of [from, to]) {
    if (room !== 'ui' && floorOf(room) === -1) {
      return `${path} is in no room of the house; rooms are listed in lint/floors.ts.`;
    }
  }
  if (from.room === to.room) return explainSibling(from, to);
  if (GUESTS.includes(to.room)) return `${to.path} is for people at a screen; no other room imports it.`;
  if (GUESTS.includes(from.room)) {
    if (from.room === 'ui' && to.room === 'client' && !typeOnly && !IN_BROWSERS.includes(to.rest)) {
      return `${to.path} needs Node; of src/client/ a browser can load ${IN_BROWSERS.join(', ')}.`;
    }
    if (typeOnly || to.room === 'client' || PROCESSES.includes(from.path)) return undefined;
    if (WORKED_OUT.includes(from.path) && to.room === 'operations') return undefined;
    if (from.room === 'cli' && (to.room === 'core' || BESIDE.includes(to.path))) return undefined;
    return `${from.room}/ knows the house through src/client/ alone; from ${to.path} it may import types.`;
  }
  if (floorOf(to.room) >= floorOf(from.room)) {
    return `${from.path} must not import ${to.path}: a room imports only from floors below it.`;
  }
  if (adapterOf(to) && !ROOTS.includes(from.room)) {
    return `${to.path} is a concrete adapter, which only ${ROOTS.join(' and ')} may name; import its port.`;
  }
  return undefined;
}

interface Place {
  /** The path in the repository: `src/journal/sqlite.ts`. */
  readonly path: string;
  /** The folder or file directly under `src/`; or `ui`. */
  readonly room: string;
  /** The path inside the room: `sqlite.ts`. */
  readonly rest: string;
}

function place(path: string): Place {
  const [top = '', room = '', ...rest] = path.split('/');
  if (top === 'ui') return { path, room: 'ui', rest: [room, ...rest].join('/') };
  return { path, room: top === 'src' ? room : '', rest: rest.join('/') };
}

function floorOf(room: string): number {
  return FLOORS.findIndex((rooms) => rooms.includes(room));
}

/** The adapter that a file belongs to: `sqlite` for `sqlite.ts`, `sqlite-rows.ts` and everything in `sqlite/`. */
function adapterOf({ room, rest }: Place): string | undefined {
  const shared = PORTS[room];
  return shared === undefined || shared.includes(rest) ? undefined : rest.split(/[-./]/)[0];
}

function explainPackage({ room, path }: Place, specifier: string): string | undefined {
  if (room !== 'core' || specifier === 'zod' || specifier.startsWith('zod/')) return undefined;
  return `${path} must not import ${specifier}: the core knows zod and itself, nothing else.`;
}

function explainSibling(from: Place, to: Place): string | undefined {
  if (from.room === 'cli') return explainWing(from, to);
  const target = adapterOf(to);
  if (target === undefined || target === adapterOf(from)) return undefined;
  return `${from.path} must not import ${to.path}: ports and adapters never know another adapter.`;
}

function explainWing(from: Place, to: Place): string | undefined {
  const [wing, other] = [wingOf(from), wingOf(to)];
  const allowed = WINGS[wing];
  if (wing === other || !allowed || allowed.includes(other)) return undefined;
  const known = allowed.length === 0 ? 'no other wing' : allowed.join(', ');
  return `${from.path} must not import ${to.path}: in src/cli/, ${wing}/ knows ${known}.`;
}

/** The folder directly under the room; empty for a file beside the wings. */
function wingOf({ rest }: Place): string {
  return rest.includes('/') ? rest.slice(0, rest.indexOf('/')) : '';
}

function checkNode(context: RuleContext, file: string, node: RuleNode): void {
  const specifier = specifierOf(node.source);
  if (specifier === undefined) return;
  const message = explainImport(file, specifier, isTypeOnly(node));
  if (message !== undefined) context.report({ message, node });
}

/** The imported path. For a template, its beginning, which names the room. */
function specifierOf(source: RuleNode | null | undefined): string | undefined {
  const text = source?.value ?? source?.quasis?.[0]?.value.cooked;
  return typeof text === 'string' ? text : undefined;
}

function isTypeOnly(node: RuleNode): boolean {
  if (node.type === 'TSImportType') return true;
  return node.importKind === 'type' || node.exportKind === 'type';
}
