import { createLowlight } from 'lowlight';
import type { Token } from './code.tsx';
import { LANGUAGE_FILES } from './language-files.ts';
import type { LanguageName } from './languages.ts';

/** Two texts to colour. */
export interface ColourRequest {
  readonly id: number;
  readonly language: LanguageName;
  readonly texts: readonly string[];
}

/** The parts of each line of each text; before that, without `lines`, that the work on them begins. */
export interface ColourAnswer {
  readonly id: number;
  readonly lines?: readonly (readonly (readonly Token[])[])[];
}

/** A node of the tree that lowlight returns. */
interface Node {
  readonly type: string;
  readonly value?: string;
  readonly properties?: { readonly className?: unknown };
  readonly children?: readonly Node[];
}

/** Our colours, and what gets them; everything else stays plain. */
const COLOURS: Readonly<Record<string, string>> = {
  keyword: 'keyword',
  'selector-tag': 'keyword',
  tag: 'keyword',
  name: 'keyword',
  operator: 'keyword',
  doctag: 'keyword',
  string: 'string',
  regexp: 'string',
  char: 'string',
  addition: 'string',
  link: 'string',
  number: 'number',
  literal: 'number',
  symbol: 'number',
  bullet: 'number',
  comment: 'comment',
  quote: 'comment',
  deletion: 'comment',
  title: 'title',
  section: 'title',
  'selector-class': 'title',
  'selector-id': 'title',
  built_in: 'type',
  type: 'type',
  class: 'type',
  attr: 'attribute',
  attribute: 'attribute',
  property: 'attribute',
  variable: 'attribute',
  'template-variable': 'attribute',
  meta: 'comment',
};

const lowlight = createLowlight();

addEventListener('message', ({ data }: MessageEvent<ColourRequest>) => void answer(data));

async function answer({ id, language, texts }: ColourRequest): Promise<void> {
  const lines: (readonly (readonly Token[])[])[] = [];
  try {
    if (!lowlight.registered(language)) {
      lowlight.register(language, (await LANGUAGE_FILES[language]()).default);
    }
    postMessage({ id } satisfies ColourAnswer);
    for (const text of texts) lines.push(linesOf(lowlight.highlight(language, text)));
  } catch {
    // The file of the language is gone, or it cannot read this: plain text.
  }
  const done: ColourAnswer = { id, lines };
  postMessage(done);
}

/** Cuts a tree into lines of parts. */
function linesOf(tree: Node): Token[][] {
  const lines: Token[][] = [[]];
  const walk = (node: Node, colour: string): void => {
    if (node.value !== undefined) {
      for (const [i, part] of node.value.split('\n').entries()) {
        if (i > 0) lines.push([]);
        if (part !== '') lines.at(-1)?.push([colour, part.length]);
      }
    }
    for (const child of node.children ?? []) walk(child, colourOf(child) ?? colour);
  };
  walk(tree, '');
  return lines;
}

function colourOf({ properties }: Node): string | undefined {
  const names = properties?.className;
  const [name = ''] = Array.isArray(names) ? names.map(String) : [];
  const colour = COLOURS[name.replace(/^hljs-/, '')];
  return colour === undefined ? undefined : `hl-${colour}`;
}
