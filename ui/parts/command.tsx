import { Fragment } from 'react';

/** A command for a terminal. A line breaks between its words, never after the dashes of an option. */
export function Command({ text }: { text: string }) {
  return (
    <code className="command">
      {text.split(' ').map((word, i) => (
        <Fragment key={i}>
          {i > 0 && ' '}
          {word.startsWith('--') ? <span className="unbroken">{word}</span> : word}
        </Fragment>
      ))}
    </code>
  );
}
