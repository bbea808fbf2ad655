import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { detectBackend } from '../../src/runtime/backend.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openTmux } from '../tmux.ts';

const ITERM2 = { TERM_PROGRAM: 'iTerm.app', ITERM_SESSION_ID: 'w0t0p0:AAAA' };

describe('the terminal in which teammates are shown', () => {
  test.each(['auto', 'tmux', 'iterm2', 'in-process'] as const)(
    'is none outside of a terminal with panes: %s',
    (mode) => {
      expect(detectBackend(mode, { PATH: process.env['PATH'] })).toBe('in-process');
    },
  );

  test('is that of this process if no environment is given', () => {
    vi.stubEnv('TMUX', '/tmp/some-tmux,1,0');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(detectBackend('auto')).toBe('tmux');
    expect(detectBackend('in-process')).toBe('in-process');
  });

  test('is tmux for a program that runs in it, unless the setting differs', async (context) => {
    const { environmentInside } = openTmux(context);
    const inside = await environmentInside();
    expect(inside['TMUX']).toBeTruthy();
    expect(detectBackend('auto', inside)).toBe('tmux');
    expect(detectBackend('tmux', inside)).toBe('tmux');
    expect(detectBackend('in-process', inside)).toBe('in-process');
    expect(detectBackend('iterm2', inside)).toBe('in-process');
    // tmux inside iTerm2: the visible panes are those of tmux.
    expect(detectBackend('auto', { ...inside, ...ITERM2, PATH: withIt2() })).toBe('tmux');
    expect(detectBackend('iterm2', { ...inside, ...ITERM2, PATH: withIt2() })).toBe('iterm2');
  });

  test('is iTerm2 in iTerm2, if its program exists and is executable', () => {
    expect(detectBackend('auto', { ...ITERM2, PATH: withIt2() })).toBe('iterm2');
    expect(detectBackend('iterm2', { ITERM_SESSION_ID: 'w0t0p0:AAAA', PATH: withIt2() })).toBe('iterm2');
    expect(detectBackend('tmux', { ...ITERM2, PATH: withIt2() })).toBe('iterm2');
    expect(detectBackend('iterm2', { PATH: withIt2() })).toBe('in-process');
    expect(detectBackend('iterm2', { ...ITERM2, PATH: temporaryFolder() })).toBe('in-process');
    expect(detectBackend('iterm2', { ...ITERM2, PATH: withIt2(0o644) })).toBe('in-process');
    expect(detectBackend('iterm2', { ...ITERM2, PATH: '' })).toBe('in-process');
    expect(detectBackend('iterm2', { ...ITERM2 })).toBe('in-process');
  });

  function withIt2(mode = 0o755): string {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'it2'), '#!/bin/sh\n');
    chmodSync(join(folder, 'it2'), mode);
    return `/nowhere:${folder}`;
  }
});
