import { lexer } from 'marked';
import type { Token, Tokens } from 'marked';
import { memo, useMemo } from 'react';
import type { ReactNode } from 'react';
import { showControls } from './controls.ts';

/** Lists and quotations nested deeper are shown as plain text, because each level takes a part of the width. */
const DEEPEST = 8;

/** Longer texts are shown as plain text: nobody formats a megabyte by hand. */
const LONGEST = 100_000;

/**
 * Text of an agent, with its Markdown. The text becomes tokens, and tokens become our own elements. There is no HTML
 * string anywhere: HTML in the text is shown as text. Addresses are shown and never loaded automatically.
 */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const tokens = useMemo(
    () => (text.length > LONGEST ? undefined : lexer(showControls(text), { gfm: true, breaks: true })),
    [text],
  );
  if (!tokens) return <pre className="code">{showControls(text)}</pre>;
  return <div className="prose">{blocks(tokens)}</div>;
});

function blocks(tokens: readonly Token[], depth = 0): ReactNode[] {
  return tokens.map((token, i) => <Block key={i} token={token} depth={depth} />);
}

function Block({ token, depth }: { token: Token; depth: number }): ReactNode {
  const isNested = token.type === 'blockquote' || token.type === 'list';
  if (isNested && depth >= DEEPEST) return <p>{token.raw}</p>;
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading': {
      const { depth, tokens } = token as Tokens.Heading;
      return depth <= 2 ? <h3>{inlines(tokens)}</h3> : <h4>{inlines(tokens)}</h4>;
    }
    case 'code':
      return <pre tabIndex={0}>{(token as Tokens.Code).text}</pre>;
    case 'blockquote':
      return <blockquote>{blocks((token as Tokens.Blockquote).tokens, depth + 1)}</blockquote>;
    case 'list': {
      const { ordered, items, start } = token as Tokens.List;
      const children = items.map((item, i) => (
        <li key={i}>
          {item.task && <input type="checkbox" checked={item.checked ?? false} readOnly disabled aria-label="done" />}
          {item.tokens.map((inner, j) => (
            <ListPart key={j} token={inner} depth={depth + 1} />
          ))}
        </li>
      ));
      return ordered ? <ol start={start === '' ? 1 : start}>{children}</ol> : <ul>{children}</ul>;
    }
    case 'hr':
      return <hr />;
    case 'table':
      return <Table token={token as Tokens.Table} />;
    case 'paragraph':
      return <p>{inlines((token as Tokens.Paragraph).tokens)}</p>;
    default:
      return <p>{'tokens' in token && token.tokens ? inlines(token.tokens) : token.raw}</p>;
  }
}

function ListPart({ token, depth }: { token: Token; depth: number }): ReactNode {
  // The list item draws the checkbox.
  if (token.type === 'checkbox') return null;
  if (token.type !== 'text') return <Block token={token} depth={depth} />;
  return <>{'tokens' in token && token.tokens ? inlines(token.tokens) : token.raw}</>;
}

function Table({ token: { header, rows } }: { token: Tokens.Table }) {
  return (
    <table>
      <thead>
        <tr>
          {header.map((cell, i) => (
            <th key={i}>{inlines(cell.tokens)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => (
          <tr key={i}>
            {row.map((cell, j) => (
              <td key={j}>{inlines(cell.tokens)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function inlines(tokens: readonly Token[]): ReactNode[] {
  return tokens.map((token, i) => <Inline key={i} token={token} />);
}

function Inline({ token }: { token: Token }): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{inlines((token as Tokens.Strong).tokens)}</strong>;
    case 'em':
      return <em>{inlines((token as Tokens.Em).tokens)}</em>;
    case 'del':
      return <del>{inlines((token as Tokens.Del).tokens)}</del>;
    case 'codespan':
      return <code>{(token as Tokens.Codespan).text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <Address token={token as Tokens.Link} />;
    // An image would send a request to any server that an agent names.
    case 'image':
      return <code>{token.raw}</code>;
    case 'escape':
      return <>{(token as Tokens.Escape).text}</>;
    default:
      return <>{'tokens' in token && token.tokens ? inlines(token.tokens) : token.raw}</>;
  }
}

/** Only plain web addresses become links, without a referrer. */
function Address({ token: { href, tokens, text } }: { token: Tokens.Link }) {
  if (!/^https?:\/\//i.test(href)) {
    return (
      <>
        {inlines(tokens)} {href !== text && <code>{href}</code>}
      </>
    );
  }
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" title={href}>
      {inlines(tokens)}
    </a>
  );
}
