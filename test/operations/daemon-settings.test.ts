import { expect, test } from 'vitest';
import { describeConfig } from '../../src/operations/daemon-settings.ts';
import { DaemonConfig } from '../../src/runtime/config.ts';

test('the settings of a daemon are shown without secrets', () => {
  const config = DaemonConfig.parse({
    agent: 'codex',
    labels: ['gpu'],
    notify: {
      command: ['/usr/bin/tell', '--password', 'hunter2'],
      webhook: { url: 'https://me:hunter2@hooks.example/services/hunter2', template: 'slack' },
      on: ['person', 'failed'],
      quietHours: '22:00-07:00',
      answers: { url: 'https://troupe.example' },
    },
  });
  const shown = describeConfig(config, '/home/ada/.troupe');
  expect(shown).toMatchObject({
    file: '/home/ada/.troupe/config.yaml',
    agent: 'codex',
    labels: ['gpu'],
    notify: {
      to: [
        { channel: 'command', where: '/usr/bin/tell' },
        { channel: 'webhook', where: 'hooks.example' },
      ],
      on: ['person', 'failed'],
      quietHours: '22:00-07:00',
      answers: true,
    },
  });
  expect(JSON.stringify(shown)).not.toContain('hunter2');
  expect(describeConfig({}, '/h')).toMatchObject({ labels: [], projects: [] });
});
