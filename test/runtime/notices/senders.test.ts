import { expect, test } from 'vitest';
import { desktopCommand } from '../../../src/runtime/notices/programs.ts';
import { NotifySettings } from '../../../src/runtime/notices/settings.ts';
import { requestFor } from '../../../src/runtime/notices/webhook.ts';

const message = {
  team: 'alpha',
  title: 'Troupe: team alpha',
  text: 'A question for you (ann): <!channel> @everyone & "go"?',
  link: 'http://127.0.0.1:4000/queue',
  notices: [],
};
const whole = `${message.title}\n${message.text}\n${message.link}`;

test('each service gets its own form, in which no text pings people', () => {
  const body = (...given: Parameters<typeof requestFor>) => JSON.parse(requestFor(...given).body) as unknown;
  expect(body('json', message)).toEqual(message);
  expect(body('slack', message)).toEqual({
    text: whole.replace('&', '&amp;').replace('<!channel>', '&lt;!channel&gt;'),
    unfurl_links: false,
  });
  expect(body('discord', message)).toEqual({ content: whole, allowed_mentions: { parse: [] } });
  expect(body('telegram', message, -100)).toMatchObject({ chat_id: -100, text: whole });
  expect(requestFor('ntfy', message)).toEqual({
    headers: { title: message.title, click: message.link },
    body: message.text,
  });
});

test('a long text is cut to what services accept', () => {
  const { body } = requestFor('discord', { ...message, text: 'x'.repeat(10_000) });
  expect((JSON.parse(body) as { content: string }).content.length).toBeLessThanOrEqual(2_000);
});

test('on a desktop, texts are arguments that nothing interprets', () => {
  const text = `-e 'quit' <b>`;
  expect(desktopCommand({ ...message, text }, 'linux')).toEqual([
    'notify-send',
    '--app-name=Troupe',
    '--',
    message.title,
    `-e 'quit' &lt;b&gt;\n${message.link}`,
  ]);
  const mac = desktopCommand({ ...message, text }, 'darwin');
  expect(mac[0]).toBe('osascript');
  expect(mac.slice(-2)).toEqual([message.title, `${text}\n${message.link}`]);
});

test('settings say at least one way, and what it needs', () => {
  const problem = (given: object) =>
    NotifySettings.safeParse(given)
      .error?.issues.map((one) => one.message)
      .join();
  expect(problem({ quietHours: '22:00-07:00' })).toBe('needs command, webhook or desktop: true');
  expect(problem({ webhook: { url: 'ftp://example.com' } })).toMatch(/^must begin with https/);
  expect(problem({ webhook: { url: 'https://example.com', template: 'telegram' } })).toMatch(/^is missing: telegram/);
  expect(problem({ desktop: true, on: ['person', 'done'] })).toBeUndefined();
  expect(problem({ webhook: { url: '${HOOK}', template: 'slack' } })).toBeUndefined();
});
