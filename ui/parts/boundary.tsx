import { TriangleAlert } from 'lucide-react';
import { Component } from 'react';
import type { ReactNode } from 'react';
import { LoadError } from './later.ts';

interface Props {
  readonly children: ReactNode;
  /** Where to show the error; by default in place of the failed part. */
  readonly within?: (failure: ReactNode) => ReactNode;
}

/** Catches an error of a view and shows it; the rest of the page keeps working. */
export class Boundary extends Component<Props, { error: Error | undefined }> {
  override state: { error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { error: Error } {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    const { children, within } = this.props;
    if (!error) return children;
    const failure = <ViewFailed error={error} retry={() => this.setState({ error: undefined })} />;
    return within ? within(failure) : failure;
  }
}

function ViewFailed({ error, retry }: { error: Error; retry: () => void }) {
  const isPartMissing = error instanceof LoadError;
  return (
    <div className="empty" role="alert">
      <TriangleAlert size={32} aria-hidden />
      <h2>This view failed</h2>
      {isPartMissing ? <p>{error.message}</p> : <pre className="code">{error.stack || error.message}</pre>}
      <div className="row">
        {!isPartMissing && (
          <button type="button" className="button" onClick={retry}>
            Try again
          </button>
        )}
        <button type="button" className="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </div>
    </div>
  );
}
