import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildUi } from '../../scripts/build-ui.ts';
import { SECURITY_HEADERS } from '../../src/server/headers.ts';
import { findBuiltPages } from '../../src/server/pages.ts';
import { shareStage } from './stage.ts';

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

describe('the files of the dashboard', () => {
  beforeAll(() => buildUi({ ifStale: true }));
  const shared = shareStage({ ui: join(import.meta.dirname, '../../dist/ui') });
  const read = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> =>
    new Promise((resolve, reject) => {
      request(`${shared().url}${path}`, { method, headers }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', () =>
          resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }),
        );
      })
        .on('error', reject)
        .end();
    });
  /** The largest script, as it is on the disk. */
  const script = (): { path: string; plain: Buffer } => {
    const folder = findBuiltPages() ?? '';
    const files = readdirSync(join(folder, 'assets'))
      .filter((name) => name.endsWith('.js'))
      .map((name) => ({ path: `/assets/${name}`, plain: readFileSync(join(folder, 'assets', name)) }));
    return files.reduce((a, b) => (b.plain.length > a.plain.length ? b : a));
  };

  test('come in the smallest form that the browser accepts', async () => {
    const { path, plain } = script();
    for (const [accepted, encoding] of [
      ['gzip, deflate, br, zstd', 'br'],
      ['BR', 'br'],
      ['gzip, br;q=0', 'gzip'],
      ['gzip;q=1.0, br;q=0.5', 'gzip'],
      ['*', 'br'],
      ['*;q=0, gzip', 'gzip'],
      ['deflate', undefined],
      ['identity, br;q=0.2', undefined],
      ['br;q=nonsense', undefined],
      ['', undefined],
      [undefined, undefined],
    ] as const) {
      const { status, headers, body } = await read(path, accepted === undefined ? {} : { 'accept-encoding': accepted });
      expect({ accepted, status, encoding: headers['content-encoding'] }).toEqual({ accepted, status: 200, encoding });
      const decoded = encoding === 'br' ? brotliDecompressSync(body) : encoding === 'gzip' ? gunzipSync(body) : body;
      expect(decoded.equals(plain)).toBe(true);
      expect(body.length <= plain.length * (encoding ? 0.5 : 1)).toBe(true);
      expect(headers).toMatchObject({
        vary: 'accept-encoding',
        'content-length': String(body.length),
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=31536000, immutable',
        'content-security-policy': SECURITY_HEADERS['content-security-policy'],
      });
    }
  });

  test('have a tag for each form, and are not sent again to a browser that has it', async () => {
    for (const path of ['/', script().path]) {
      const forms = await Promise.all(['br', 'gzip', 'identity'].map((one) => read(path, { 'accept-encoding': one })));
      const tags = forms.map(({ headers }) => headers.etag ?? '');
      expect(new Set(tags).size).toBe(3);
      for (const tag of tags) expect(tag).toMatch(/^"[\w-]{27}"$/);
      const [tag = '', other = ''] = tags;
      for (const known of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
        const { status, headers, body } = await read(path, { 'accept-encoding': 'br', 'if-none-match': known });
        expect([known, status, body.length]).toEqual([known, 304, 0]);
        expect(headers).toMatchObject({ etag: tag, vary: 'accept-encoding' });
        expect(headers).not.toHaveProperty('content-encoding');
      }
      const changed = await read(path, { 'accept-encoding': 'br', 'if-none-match': other });
      expect([changed.status, changed.headers.etag]).toEqual([200, tag]);
    }
  });

  test('have the same headers when only these are asked for', async () => {
    const { path } = script();
    const headersOf = async (method: string) => {
      const { status, headers, body } = await read(path, { 'accept-encoding': 'br' }, method);
      const { date: _date, ...rest } = headers;
      return { status, rest, size: body.length };
    };
    const whole = await headersOf('GET');
    expect(await headersOf('HEAD')).toEqual({ ...whole, size: 0 });
    const known = { 'accept-encoding': 'br', 'if-none-match': whole.rest.etag ?? '' };
    expect((await read(path, known, 'HEAD')).status).toBe(304);
  });

  test('are under no address of their compressed forms, and a page that does not exist is never unchanged', async () => {
    for (const ending of ['br', 'gz']) expect((await read(`${script().path}.${ending}`)).status).toBe(401);
    const followed = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', accept: 'text/html' };
    const absent = await read('/no-such-page', { ...followed, 'accept-encoding': 'br' });
    expect([absent.status, absent.headers['content-encoding']]).toEqual([404, 'br']);
    const again = await read('/no-such-page', { ...followed, 'if-none-match': '*' });
    expect(again.status).toBe(404);
  });
});
