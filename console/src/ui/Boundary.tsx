import { Component, type ReactNode } from "react";
import { Link } from "wouter";
import { MissingPage } from "./lazily";
import { holdsSomething } from "./leaving";

interface BoundaryProps {
  /** The path of what is shown: another one is shown although this one has failed. */
  path: string;
  children: ReactNode;
}

/** What stands in the place of a page that cannot be shown; never the message of the error, which may quote a document. */
export class Boundary extends Component<BoundaryProps, { failed: { error: unknown } | null }> {
  override state: { failed: { error: unknown } | null } = { failed: null };

  static getDerivedStateFromError(error: unknown) {
    return { failed: { error } };
  }

  override componentDidUpdate(before: BoundaryProps) {
    if (before.path !== this.props.path && this.state.failed) this.again();
  }

  again = () => {
    const error = this.state.failed?.error;
    if (error instanceof MissingPage) error.renew();
    this.setState({ failed: null });
  };

  override render() {
    if (!this.state.failed) return this.props.children;
    const { error } = this.state.failed;
    return (
      <section className="page">
        <h1>This page cannot be shown</h1>
        <div className="notice bad" role="alert">
          <p>{explain(error)}</p>
          {holdsSomething() && (
            <p>A reload would stop an upload or lose files that you have chosen. Finish that first.</p>
          )}
        </div>
        <div className="bar">
          <button type="button" className="primary" onClick={() => location.reload()}>
            Reload the page
          </button>
          {error instanceof MissingPage && !error.isReplaced && (
            <button type="button" onClick={this.again}>
              Try again
            </button>
          )}
          <Link href="/">Go to the cases</Link>
        </div>
      </section>
    );
  }
}

function explain(error: unknown): string {
  if (!(error instanceof MissingPage))
    return "The console has a fault here; what the server has is not affected. Reload the page. If that does not help, send your administrator its address.";
  if (error.isReplaced)
    return "The server has a new version of the console, and this window has the old one. Reload the page to go on with the new one.";
  return "Its script could not be loaded. Check the connection, then try again.";
}
