import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { needs } from '../tools.ts';
import { until } from '../until.ts';
import { findDaemons, openTroupe } from './troupe.ts';

test(
  'everything that a test leaves is ended, even a daemon that is still starting',
  needs(existsSync('/proc'), 'there is no /proc'),
  async () => {
    const { troupe, close } = openTroupe();
    const command = troupe.start('status');
    await until('the daemon starts', () => findDaemons(troupe.home).length > 0);
    command.child.kill('SIGKILL');
    await command.ended;
    await close();
    expect(findDaemons(troupe.home)).toEqual([]);
    expect(existsSync(troupe.home)).toBe(false);
  },
);
