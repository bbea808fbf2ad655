import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hostsOf, isLoopback, readHost } from '../../core/sandbox.ts';
import type { SandboxSettings } from '../../core/sandbox.ts';
import type { Variables } from '../../core/variables.ts';
import type { Login } from '../row.ts';
import { requireSandbox } from './able.ts';
import { makeBox } from './box.ts';
import { bubblewrapCommand } from './bubblewrap.ts';
import { openDoor, openForward, openProxy } from './network.ts';
import type { Door, Listener } from './network.ts';
import { proxyVariables } from './proxy-variables.ts';
import { seatbeltCommand } from './seatbelt.ts';
import { wallsOf } from './walls.ts';
import type { SandboxWrap, Start } from './wrap.ts';

/** An open sandbox. */
export interface OpenSandbox extends SandboxWrap {
  /** The state directory as the program sees it: with the daemon's socket and its own credential. */
  readonly home: string;
  /** Writes the credential for the program, if it has changed. */
  refresh(): void;
  close(): Promise<void>;
}

/** What is known about those that will run in it. */
export interface SandboxOptions {
  readonly settings: SandboxSettings;
  /** The state directory of the daemon. */
  readonly state: string;
  readonly env: Variables;
  /** How the agent logs in, if that is known. */
  readonly login?: Login | undefined;
  /** How it reaches its daemon; without it, it does not. */
  readonly daemon?: {
    readonly socket: string;
    /** The credential that it gets. */
    readonly token: () => string;
    /** The address of the daemon's HTTP server now. */
    readonly url: () => string | undefined;
  };
}

const INSIDE = fileURLToPath(new URL(`./inside${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url));

/** Variables that lead to sockets of the user: they are hidden. */
const LEFT_OUT = new Set(['SSH_AUTH_SOCK', 'XDG_RUNTIME_DIR']);

/** Opens a sandbox: its sockets listen until it is closed. Refuses if there can be none here. */
export async function openSandbox(options: SandboxOptions): Promise<OpenSandbox> {
  const { settings, state, env, login, daemon } = options;
  const program = requireSandbox(env);
  const box = makeBox(state);
  const listeners: Listener[] = [];
  const [socket, doorway] = [join(box, 'net.sock'), join(box, 'in.sock')];
  let door: Door | undefined;
  let given = '';

  const daemonPorts = (): number[] => {
    const port = Number(URL.parse(daemon?.url() ?? '')?.port);
    return port > 0 ? [port] : [];
  };
  const hosts = settings.network === 'none' ? [] : [...hostsOf(settings), ...modelHosts(login, env)];
  const reachable = (): string[] => [...hosts, ...daemonPorts().map((port) => `127.0.0.1:${port}`)];

  const proxyPort = (isOpen: boolean): number[] => (isOpen ? listeners.slice(0, 1).map(({ port }) => port) : []);

  function refresh(): void {
    if (!daemon) return;
    const token = daemon.token();
    if (token !== given) writeFileSync(join(box, 'token'), `${token}\n`, { mode: 0o600 });
    given = token;
  }

  function wrap({ command, cwd, env: wanted, serves: port }: Start): Start {
    const walls = wallsOf({ command, cwd, env: wanted, settings, state, box, login });
    const kept = Object.fromEntries(Object.entries(wanted).filter(([name]) => !LEFT_OUT.has(name)));
    const inner = { ...kept, TMPDIR: '/tmp' };
    const near = hosts.filter(isNear).flatMap((entry) => readHost(entry)?.port ?? []);
    const ports = [...new Set([...daemonPorts(), ...near])];
    const isOpen = hosts.some((entry) => !isNear(entry));
    if (process.platform === 'darwin') {
      const tmp = join(box, 'tmp');
      mkdirSync(tmp, { recursive: true, mode: 0o700 });
      const doors = { ports: [...ports, ...proxyPort(isOpen)], sockets: [join(box, 'daemon.sock')] };
      const within = { ...walls, mounts: [...walls.mounts, { path: realpathSync(tmp), as: 'write' as const }] };
      const outer = seatbeltCommand(program, { walls: within, doors }, command);
      return { command: outer, cwd, env: { ...inner, TMPDIR: tmp, ...proxyVariables(proxyPort(isOpen)[0]) } };
    }
    const orders = { socket, ports, hosts: isOpen, ...(port !== undefined && { serves: { port, door: doorway } }) };
    const relay = [process.execPath, INSIDE, JSON.stringify(orders), ...command];
    return { command: bubblewrapCommand(program, walls, relay), cwd, env: inner };
  }

  async function close(): Promise<void> {
    await Promise.all(listeners.map((one) => one.close()));
    rmSync(box, { recursive: true, force: true });
  }

  try {
    listeners.push(await openProxy(process.platform === 'darwin' ? undefined : socket, reachable));
    // On macOS a sandbox has the network of the machine.
    if (process.platform !== 'darwin') listeners.push((door = await openDoor(doorway)));
    if (daemon) listeners.push(await openForward(join(box, 'daemon.sock'), daemon.socket));
    refresh();
  } catch (error) {
    await close();
    throw error;
  }
  return { home: box, wrap, reach: door?.reach, refresh, close };
}

function isNear(entry: string): boolean {
  return isLoopback(readHost(entry)?.host ?? '');
}

/** The hosts of an agent's model: those of its provider, or those that its variables name instead. */
export function modelHosts(login: Pick<Login, 'hosts'> | undefined, env: Variables): string[] {
  if (!login) return [];
  const named = Object.entries(env).flatMap(([name, value]) => {
    const url = name.endsWith('_BASE_URL') ? URL.parse(value ?? '') : undefined;
    if (!url || url.hostname === '') return [];
    return [`${url.hostname}:${url.port || (url.protocol === 'http:' ? 80 : 443)}`];
  });
  return [...login.hosts, ...named];
}
