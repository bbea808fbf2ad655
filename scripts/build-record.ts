import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { RECORD_PLACE } from '../src/client/record.ts';
import { policyHash } from './policy-hash.ts';

/** The page into which `troupe export` writes a record: the dashboard in one file, compressed. */
export async function buildRecordPage(root: string): Promise<Uint8Array> {
  const { build } = await import('vite');
  const built = await build({
    configFile: join(root, 'ui/record/vite.config.ts'),
    logLevel: 'error',
    build: { write: false },
  });
  const output = 'output' in built ? built.output : [];
  const script = output.find(({ fileName }) => fileName === 'main.js');
  const style = output.find(({ fileName }) => fileName.endsWith('.css'));
  if (script?.type !== 'chunk' || style?.type !== 'asset' || output.length > 2) {
    throw new Error(
      `A record is one script and one style sheet, not ${output.map(({ fileName }) => fileName).join(', ')}`,
    );
  }
  const page = pageOf({
    first: readFileSync(join(root, 'ui/public/first.js'), 'utf8'),
    script: script.code,
    style: String(style.source),
    icon: readFileSync(join(root, 'ui/public/favicon.svg')).toString('base64'),
  });
  return brotliCompressSync(page, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
}

/** The policy is that of the daemon, but what it allows is inside of the file: by its hash, or as `data:` and `blob:`. */
function pageOf({
  first,
  script,
  style,
  icon,
}: Readonly<Record<'first' | 'script' | 'style' | 'icon', string>>): string {
  const scripts = [first, script].map(inside);
  const policy = [
    "default-src 'none'",
    `script-src ${scripts.map(policyHash).join(' ')}`,
    `style-src ${policyHash(style)}`,
    'img-src data:',
    'font-src data:',
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types troupe-worker',
    'worker-src blob:',
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Troupe</title>
<link rel="icon" href="data:image/svg+xml;base64,${icon}">
<style>${style}</style>
<script>${scripts[0]}</script>
</head>
<body>
<div id="root"></div>
<noscript>This record of a team needs JavaScript. It loads nothing from anywhere.</noscript>
${RECORD_PLACE}
<script type="module">${scripts[1]}</script>
</body>
</html>
`;
}

/** A script that can stand inside of a page: no text in it ends it, or begins a comment. */
function inside(script: string): string {
  return script.replaceAll(/<(?=\/?script|!--)/gi, String.raw`\x3C`);
}
