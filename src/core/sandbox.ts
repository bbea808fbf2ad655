import { z } from 'zod';
import { quote } from './text.ts';

/** A host that a sandbox may reach: `api.example.com`, `*.example.com:443`, `127.0.0.1:8080`, `[::1]:8080`, `*`. */
const SandboxHost = z
  .string()
  .max(260)
  .superRefine((text, context) => {
    const wrong = wrongHost(text);
    if (wrong !== undefined) context.addIssue({ code: 'custom', message: `${quote(text)} ${wrong}` });
  });

/** A path on the machine that runs the sandbox. In a workspace, a relative one would have two meanings. */
const SandboxPath = z
  .string()
  .max(4_096)
  .regex(/^(\/|~$|~\/)/, 'must begin with / or ~/')
  .refine((path) => !path.includes('\0') && !path.split('/').includes('..'), 'must not contain ..');

/** What a sandbox opens. Everything else is read-only, hidden or unreachable. */
export const SandboxSettings = z.strictObject({
  network: z
    .union([z.literal('none'), z.array(SandboxHost).max(64)], 'must be a list of hosts, such as [example.com], or none')
    .optional()
    .describe('hosts that it may reach, such as registry.npmjs.org or *.github.com; none: only its daemon'),
  write: z.array(SandboxPath).max(64).optional().describe('files and folders that it may write, besides its workspace'),
  read: z.array(SandboxPath).max(64).optional().describe('files and folders of your home that it may read'),
});
export type SandboxSettings = z.output<typeof SandboxSettings>;

/** Whether something runs in a sandbox, and what is open in it. */
export const Sandbox = z.union([z.boolean(), SandboxSettings]);
export type Sandbox = z.output<typeof Sandbox>;

/** The settings of a sandbox; undefined without one. */
export function sandboxOf(sandbox: Sandbox | undefined): SandboxSettings | undefined {
  if (sandbox === undefined || sandbox === false) return undefined;
  return sandbox === true ? {} : sandbox;
}

/** The hosts that the settings name. */
export function hostsOf({ network }: SandboxSettings): readonly string[] {
  return network === undefined || network === 'none' ? [] : network;
}

/** A host and a port of an entry; without a port, all ports are meant. */
export interface HostRule {
  readonly host: string;
  readonly port: number | undefined;
}

const ENTRY = /^(\[[0-9a-f:.]+\]|\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::(\d{1,5}))?$/i;

/** Reads an entry of a list of hosts. */
export function readHost(entry: string): HostRule | undefined {
  const [, host, port] = ENTRY.exec(entry) ?? [];
  if (host === undefined) return undefined;
  return { host: bare(host), port: port === undefined ? undefined : Number(port) };
}

function wrongHost(entry: string): string | undefined {
  const rule = readHost(entry);
  if (!rule) return 'is not a host such as api.example.com, *.example.com:443 or 127.0.0.1:8080';
  if (rule.port !== undefined && (rule.port < 1 || rule.port > 65_535)) return 'has no valid port';
  if (isLoopback(rule.host) && rule.port === undefined) return 'is this machine: name the port, too';
  return undefined;
}

/** Whether a name or an address means this machine. */
export function isLoopback(host: string): boolean {
  const name = bare(host);
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
}

/**
 * The rule by which a host may be reached, the most exact one; undefined if there is none. `*` and `*.example.com` never
 * mean this machine.
 */
export function ruleFor(rules: readonly HostRule[], host: string, port: number): HostRule | undefined {
  const name = bare(host);
  const fits = rules.filter((rule) => rule.port === undefined || rule.port === port);
  const exact = fits.find((rule) => rule.host === name || (isLoopback(rule.host) && isLoopback(name)));
  if (exact || isLoopback(name)) return exact;
  const below = fits.find((rule) => rule.host.startsWith('*.') && name.endsWith(rule.host.slice(1)));
  return below ?? fits.find((rule) => rule.host === '*');
}

function bare(host: string): string {
  return host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}
