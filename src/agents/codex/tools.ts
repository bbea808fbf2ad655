/** Codex's settings without one of its tools. It has no list of all of them. */
interface Without {
  readonly features?: Readonly<Record<string, false>>;
  readonly include_apply_patch_tool?: false;
  readonly web_search?: 'disabled';
}

const WITHOUT = {
  shell: { features: { shell_tool: false, unified_exec: false } },
  apply_patch: { include_apply_patch_tool: false },
  web_search: { web_search: 'disabled' },
  multi_agent: { features: { multi_agent: false } },
} as const satisfies Readonly<Record<string, Without>>;

/** The tools that Codex can do without. */
export const CODEX_TOOLS = Object.keys(WITHOUT) as readonly (keyof typeof WITHOUT)[];

/** The configuration of a thread without these tools. */
export function withoutTools(tools: readonly string[]): Without {
  const parts: readonly Without[] = CODEX_TOOLS.filter((tool) => tools.includes(tool)).map((tool) => WITHOUT[tool]);
  const features = Object.fromEntries(parts.flatMap((part) => Object.entries(part.features ?? {})));
  const others = Object.fromEntries(parts.flatMap((part) => Object.entries(part)));
  return { ...others, ...(Object.keys(features).length > 0 && { features }) };
}
