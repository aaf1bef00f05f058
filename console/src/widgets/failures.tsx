// Keeps the rest of the page when one page of the console cannot be shown: as when vnfsd is of another
// version than the console, and answers otherwise.
import { Component, type ReactNode } from "react";
import { Alert, Button } from "../patternfly";

interface State {
  error?: Error;
}

export class Failures extends Component<{ children: ReactNode }, State> {
  state: State = {};

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <Alert
        component="p"
        variant="danger"
        isInline
        data-testid="failure"
        title={`This page cannot be shown: ${error.message}`}
      >
        <p>Are vnfsd and the console of the same version on this head (symnas --version)?</p>
        <Button variant="link" isInline onClick={() => this.setState({ error: undefined })}>
          Try again
        </Button>
      </Alert>
    );
  }
}
