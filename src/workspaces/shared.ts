import type { Workspace, Workspaces } from './workspace.ts';

/** All members work in one folder, as it is: nothing is saved, and nothing is ever changed or removed. */
export function sharedWorkspaces({ folder }: { folder: string }): Workspaces {
  return {
    kind: 'shared',
    async open(name): Promise<Workspace> {
      return {
        name,
        folder,
        opened: { how: 'found', copied: [], notCopied: [], submodules: [] },
        base: undefined,
        save: async () => undefined,
        saves: async () => [],
        review: async () => [],
        unsaved: async () => [],
        refresh: async () => undefined,
        lay: async () => undefined,
        discard: async () => [],
        restore: async () => undefined,
        // The folder is the user's, who prepared it.
        needsSetup: async () => false,
        setupDone: async () => {},
        forgetSetup: async () => {},
        tasks: undefined,
        workOn: async () => {},
        size: async () => 0,
        close: async () => ({}),
      };
    },
    list: async () => [],
  };
}
