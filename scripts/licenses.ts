// Completes the license texts that Vite collects for a bundle.
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name: string };
}

/** Vite's option for a bundle: the texts go into this file of its folder. */
export const LICENSES = { fileName: 'licenses.md' } as const;

/**
 * Adds what Vite leaves out: the packages that only style sheets use, such as fonts, and the text of a license whose
 * package has no file with it. Throws if a text cannot be found.
 */
export function completeLicenses(root: string, file: string, sources: readonly string[] = []): void {
  const parts = readFileSync(file, 'utf8').split(/^(?=## .+ - \d\S* \(.+\)$)/m);
  const text = parts.map((part) => withText(root, part)).join('');
  const missing = importedPackages(root, sources).filter((name) => !text.includes(`\n## ${name} - `));
  writeFileSync(file, [text.trimEnd(), ...missing.map((name) => sectionOf(root, name))].join('\n\n') + '\n');
}

/** A section that has only its title gets the text of its license. */
function withText(root: string, part: string): string {
  const [, name] = /^## (.+) - \d\S* \(.+\)\s*$/.exec(part.trim()) ?? [];
  return name === undefined ? part : `${sectionOf(root, name)}\n\n`;
}

function sectionOf(root: string, name: string): string {
  const folder = join(root, 'node_modules', name);
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const [file] = globSync('{LICENSE,LICENCE,license}*', { cwd: folder });
  const text = file === undefined ? usualText(manifest) : readFileSync(join(folder, file), 'utf8').trim();
  return `## ${name} - ${manifest.version} (${manifest.license ?? 'see below'})\n\n${text}`;
}

/** The MIT license asks for its text in every copy, also where its author left it out. */
function usualText({ name, license, author }: Manifest): string {
  if (license !== 'MIT') throw new Error(`${name} has no license text: add it to scripts/licenses.ts`);
  const holder = typeof author === 'object' ? author.name : (author ?? `the authors of ${name}`);
  return `Copyright (c) ${holder}\n\n${MIT}`;
}

/** The packages that these sources import by name, sorted. */
function importedPackages(root: string, sources: readonly string[]): string[] {
  const texts = globSync([...sources], { cwd: root }).map((path) => readFileSync(join(root, path), 'utf8'));
  const names = texts.flatMap((text) =>
    [...text.matchAll(/(?:import\s|from\s|url\()\s*['"]((?:@[\w.-]+\/)?[\w][\w.-]*)/g)].map(([, name = '']) => name),
  );
  return [...new Set(names)].filter((name) => existsSync(join(root, 'node_modules', name, 'package.json'))).sort();
}

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.`;
