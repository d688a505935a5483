import { Suspense, useEffect, useRef } from "react";
import { Link, Route, Router, Switch, useLocation } from "wouter";
import { renewSession, useSession } from "./auth/session";
import { CasesPage } from "./features/cases/CasesPage";
import { Header } from "./header";
import { Boundary } from "./ui/Boundary";
import { Dialog } from "./ui/Dialog";
import { lazily } from "./ui/lazily";
import { Keys } from "./ui/Keys";
import { LiveRegion } from "./ui/LiveRegion";
import { WaitingPage } from "./ui/Skeleton";
import { useTitle } from "./ui/title";

const ActivityPage = lazily("activity", () => import("./features/activity/ActivityPage"));
const DevicePage = lazily("device", () => import("./features/custody/DevicePage"));
const DevicesPage = lazily("devices", () => import("./features/custody/DevicesPage"));
const NewProductionPage = lazily("new-production", () => import("./features/productions/NewProductionPage"));
const OperationsPage = lazily("operations", () => import("./features/operations/OperationsPage"));
const ProductionPage = lazily("production", () => import("./features/productions/ProductionPage"));
const ProductionsPage = lazily("productions", () => import("./features/productions/ProductionsPage"));
const SettingsPage = lazily("settings", () => import("./features/settings/SettingsPage"));
const ViewerPage = lazily("viewer", () => import("./features/viewer/ViewerPage"));
const FixPage = lazily("fix", () => import("./features/fix/FixPage"));
const ImportPage = lazily("import", () => import("./features/imports/ImportPage"));
const DocumentsPage = lazily("documents", () => import("./features/documents/DocumentsPage"));
const ImportsPage = lazily("imports", () => import("./features/imports/ImportsPage"));
const WizardPage = lazily("wizard", () => import("./features/wizard/WizardPage"));

export function App() {
  return (
    <Router base="/console">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Header />
      <Main />
      <LiveRegion />
    </Router>
  );
}

function Main() {
  const session = useSession();
  const main = useFocusAfterNavigation();
  return (
    <main id="main" ref={main} tabIndex={-1}>
      {session.state === "starting" && <WaitingPage title="Signing in" isTitleSeen={false} />}
      {session.state === "signed-out" && <SignedOut reason={session.reason} />}
      {(session.state === "signed-in" || session.state === "expired") && <Pages />}
      {session.state === "expired" && <Expired />}
    </main>
  );
}

function Pages() {
  const [path] = useLocation();
  return (
    <Boundary path={path}>
      <Keys />
      <Suspense fallback={<WaitingPage title="Loading" isTitleSeen={false} />}>
        <Switch>
          <Route path="/" component={CasesPage} />
          <Route path="/cases/:caseId/imports">
            {({ caseId }) => <ImportsPage caseId={Number(caseId)} key={caseId} />}
          </Route>
          <Route path="/imports/:importId/fix">
            {({ importId }) => <FixPage importId={Number(importId)} key={importId} />}
          </Route>
          <Route path="/cases/:caseId/documents">
            {({ caseId }) => <DocumentsPage caseId={Number(caseId)} key={caseId} />}
          </Route>
          <Route path="/cases/:caseId/documents/:exhibitId">
            {({ caseId, exhibitId }) => (
              <ViewerPage caseId={Number(caseId)} exhibitId={Number(exhibitId)} key={exhibitId} />
            )}
          </Route>
          <Route path="/cases/:caseId/productions/new">
            {({ caseId }) => <NewProductionPage caseId={Number(caseId)} key={caseId} />}
          </Route>
          <Route path="/cases/:caseId/productions">
            {({ caseId }) => <ProductionsPage caseId={Number(caseId)} key={caseId} />}
          </Route>
          <Route path="/productions/:productionId">
            {({ productionId }) => <ProductionPage productionId={Number(productionId)} key={productionId} />}
          </Route>
          <Route path="/cases/:caseId/activity">
            {({ caseId }) => <ActivityPage caseId={Number(caseId)} key={caseId} />}
          </Route>
          <Route path="/cases/:caseId/settings">
            {({ caseId }) => <SettingsPage caseId={Number(caseId)} key={caseId} />}
          </Route>
          <Route path="/activity">{() => <ActivityPage />}</Route>
          <Route path="/custody">{() => <DevicesPage />}</Route>
          <Route path="/custody/:deviceId">
            {({ deviceId }) => <DevicePage deviceId={Number(deviceId)} key={deviceId} />}
          </Route>
          <Route path="/operations">{() => <OperationsPage />}</Route>
          <Route path="/imports/:importId">
            {({ importId }) => <ImportPage importId={Number(importId)} key={importId} />}
          </Route>
          <Route path="/import">{() => <WizardPage />}</Route>
          <Route path="/import/volume/:volumeId">{({ volumeId }) => <WizardPage volumeId={Number(volumeId)} />}</Route>
          <Route path="/import/:importId">{({ importId }) => <WizardPage importId={Number(importId)} />}</Route>
          <Route component={NoPage} />
        </Switch>
      </Suspense>
    </Boundary>
  );
}

function NoPage() {
  useTitle("This page does not exist");
  return (
    <section className="page">
      <h1>This page does not exist</h1>
      <p>
        <Link href="/">Go to the cases</Link>
      </p>
    </section>
  );
}

function SignedOut({ reason }: { reason: string }) {
  useTitle("Signed out");
  return (
    <section className="page center">
      <h1>You are signed out</h1>
      <p>{reason}</p>
    </section>
  );
}

function Expired() {
  return (
    <Dialog title="Your session has ended" open>
      <p>What you have entered and what is being uploaded is kept while this page stays open.</p>
      <button type="button" className="primary" autoFocus onClick={() => void renewSession()}>
        Sign in again
      </button>
    </Dialog>
  );
}

/** Move the focus to the content after navigation, so that keyboards and screen readers are where the eyes are. */
function useFocusAfterNavigation() {
  const [path] = useLocation();
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
  }, [path]);
  return main;
}
