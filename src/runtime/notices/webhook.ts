import type { NoticeMessage } from '../../core/notice.ts';
import type { Webhook, WebhookTemplate } from './settings.ts';

/** Why a notice was not sent. */
export class UnsentError extends Error {
  /** Whether another try may help. */
  readonly mayPass: boolean;

  constructor(message: string, { mayPass }: { mayPass: boolean }) {
    super(message);
    this.mayPass = mayPass;
  }
}

/** How long a server may take to answer. */
const TIMEOUT_MS = 10_000;

/** Discord accepts 2,000 characters, Telegram 4,096. */
const TEXT_LENGTH = 1_900;

/** Fills in `${NAME}`. The values are secrets: `hide` keeps them out of the log. */
export function resolveUrl(
  url: string,
  environment: Readonly<Record<string, string | undefined>>,
  hide: (secret: string) => void,
): URL {
  const full = url.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_whole, name: string) => {
    const value = environment[name];
    if (!value) {
      throw new UnsentError(`the daemon was started without the variable ${name}, which the url of the webhook needs`, {
        mayPass: false,
      });
    }
    hide(value);
    return value;
  });
  if (!URL.canParse(full) || !/^https?:/.test(full)) {
    throw new UnsentError('the url of the webhook is not an http or https address', { mayPass: false });
  }
  return new URL(full);
}

/** Posts a message. Redirects are not followed: the address is a secret, and the text is not for other hosts. */
export async function postNotice(
  url: URL,
  { template, chat }: Pick<Webhook, 'template' | 'chat'>,
  message: NoticeMessage,
  signal: AbortSignal,
): Promise<void> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      ...requestFor(template, message, chat),
    });
  } catch (error) {
    const { message: why, cause } = error as Error;
    throw new UnsentError(`${url.host}: ${cause instanceof Error ? cause.message : why}`, { mayPass: true });
  }
  await response.body?.cancel();
  if (response.ok) return;
  const { status } = response;
  // Others say that the request is wrong, which no repetition changes.
  throw new UnsentError(`${url.host} answered ${status}`, {
    mayPass: status >= 500 || status === 408 || status === 429,
  });
}

/** Header and body for a service. Texts come from agents, so none may ping people or hide a link. */
export function requestFor(
  template: WebhookTemplate,
  message: NoticeMessage,
  chat?: Webhook['chat'],
): { headers: Record<string, string>; body: string } {
  const { title, link } = message;
  const text = message.text.length > TEXT_LENGTH ? `${message.text.slice(0, TEXT_LENGTH)}…` : message.text;
  const whole = [title, text, ...(link === undefined ? [] : [link])].join('\n');
  switch (template) {
    case 'slack':
      return json({ text: escapeMarkup(whole), unfurl_links: false });
    case 'discord':
      return json({ content: whole, allowed_mentions: { parse: [] } });
    case 'telegram':
      return json({ chat_id: chat, text: whole, link_preview_options: { is_disabled: true } });
    case 'ntfy':
      return { headers: { title, ...(link !== undefined && { click: link }) }, body: text };
    case 'json':
      return json(message);
  }
}

function json(value: object): { headers: Record<string, string>; body: string } {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}

/** Slack reads `<!channel>` as a ping, and desktops read tags. */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
