// Begins the plug-in.
import "@patternfly/react-core/dist/styles/base.css";
import "@patternfly/react-styles/css/components/Table/table.css";
import "@patternfly/react-styles/css/components/Table/table-grid.css";
import "./app.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { CockpitTransport } from "./api/cockpit_transport";
import { App } from "./app";
import { Console } from "./console";
import { followTheme } from "./theme";

followTheme();
cockpit.permission({ admin: true });
const page = new Console(new CockpitTransport());
page.start();
const root = document.getElementById("app");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App console={page} />
    </StrictMode>,
  );
}
