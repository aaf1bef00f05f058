// The page: navigation, what is wrong with the connection, the page that was chosen, and the dialog of
// a change.
import { Alert, Nav, NavItem, NavList, Title } from "./patternfly";
import { useCallback, useEffect, useMemo, useState, type ReactNode } from "react";
import type { Change } from "./api/change";
import type { Console } from "./console";
import { DrillsPage } from "./pages/drills";
import { EventsPage } from "./pages/events";
import { ExportsPage } from "./pages/exports";
import { FilesystemsPage } from "./pages/filesystems";
import { HistoryPage } from "./pages/history";
import { LoadPage } from "./pages/load";
import { LocksPage } from "./pages/locks";
import { MatrixPage } from "./pages/matrix";
import { OverviewPage } from "./pages/overview";
import { StoragePage } from "./pages/storage";
import { AskedPanel } from "./widgets/asked_panel";
import { Banner } from "./widgets/banner";
import { ChangeDialog } from "./widgets/change_dialog";
import { Failures } from "./widgets/failures";
import { ConsoleContext, useObserved } from "./widgets/context";

interface PageEntry {
  key: string;
  title: string;
  show(): ReactNode;
}

const PAGES: readonly PageEntry[] = [
  { key: "matrix", title: "Matrix", show: () => <MatrixPage /> },
  { key: "overview", title: "Overview", show: () => <OverviewPage /> },
  { key: "storage", title: "Storage", show: () => <StoragePage /> },
  { key: "filesystems", title: "Filesystems", show: () => <FilesystemsPage /> },
  { key: "exports", title: "Exports", show: () => <ExportsPage /> },
  { key: "locks", title: "Clients and locks", show: () => <LocksPage /> },
  { key: "events", title: "Events", show: () => <EventsPage /> },
  { key: "history", title: "History", show: () => <HistoryPage /> },
  { key: "drills", title: "Drills", show: () => <DrillsPage /> },
  { key: "load", title: "Load", show: () => <LoadPage /> },
];

function pageOf(hash: string): PageEntry {
  const key = hash.replace(/^#\/?/, "");
  return PAGES.find((page) => page.key === key) ?? PAGES[0]!;
}

function usePageOfAddress(): PageEntry {
  const [page, setPage] = useState(() => pageOf(window.location.hash));
  useEffect(() => {
    const follow = () => setPage(pageOf(window.location.hash));
    window.addEventListener("hashchange", follow);
    return () => window.removeEventListener("hashchange", follow);
  }, []);
  return page;
}

function Navigation({ current }: { current: string }) {
  return (
    <Nav variant="horizontal" aria-label="Pages of symnas" className="sy-nav">
      <NavList>
        {PAGES.map(({ key, title }) => (
          <NavItem key={key} to={`#/${key}`} isActive={key === current} data-testid={`nav-${key}`}>
            {title}
          </NavItem>
        ))}
      </NavList>
    </Nav>
  );
}

const MAY: Record<string, string> = {
  viewer: "You may look at everything here, and change nothing",
  operator: "You may move VNFSs and drain heads, and change nothing else",
};

function ReadOnly({ console }: { console: Console }) {
  const role = useObserved(console.role);
  if (role === undefined || role === "admin") return null;
  return (
    <Alert
      component="p"
      variant="info"
      isInline
      isPlain
      title={`${MAY[role]}: for more, turn on administrative access (top of Cockpit's page).`}
      data-testid="read-only"
    />
  );
}

interface Asking {
  change: Change;
  impact?: ReactNode;
}

export function App({ console }: { console: Console }) {
  const page = usePageOfAddress();
  const { lostSinceMs } = useObserved(console.link);
  const [asking, setAsking] = useState<Asking>();
  const ask = useCallback(
    (change: Change, impact?: ReactNode) => setAsking({ change, impact }),
    [],
  );
  const context = useMemo(() => ({ console, ask }), [console, ask]);
  return (
    <ConsoleContext.Provider value={context}>
      <Navigation current={page.key} />
      <main className={lostSinceMs ? "sy-main sy-old" : "sy-main"} data-testid={`page-${page.key}`}>
        <Title headingLevel="h1">{page.title}</Title>
        <Banner />
        <ReadOnly console={console} />
        <AskedPanel />
        <div className="sy-stack sy-data">
          <Failures key={page.key}>{page.show()}</Failures>
        </div>
      </main>
      {asking && (
        <ChangeDialog
          key={asking.change.path + asking.change.command}
          change={asking.change}
          impact={asking.impact}
          onClose={() => setAsking(undefined)}
        />
      )}
    </ConsoleContext.Provider>
  );
}
