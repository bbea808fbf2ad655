import { TriangleAlert } from 'lucide-react';
import { Component } from 'react';
import type { ReactNode } from 'react';

/** Where a view fails, it says so, and the rest of the page goes on. */
export class Boundary extends Component<{ children: ReactNode }, { error: Error | undefined }> {
  override state: { error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { error: Error } {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div className="empty" role="alert">
        <TriangleAlert size={32} aria-hidden />
        <h2>This view failed</h2>
        <pre className="code">{error.stack ?? error.message}</pre>
        <div className="row">
          <button type="button" className="button" onClick={() => this.setState({ error: undefined })}>
            Try again
          </button>
          <button type="button" className="button" onClick={() => location.reload()}>
            Load the page again
          </button>
        </div>
      </div>
    );
  }
}
