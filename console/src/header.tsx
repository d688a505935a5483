import { useMutation } from "@tanstack/react-query";
import { lazy, Suspense, useId, useState, type FormEvent, type ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { useMe } from "./api/me";
import { useIsAway } from "./api/reach";
import { become, signOut, useSession } from "./auth/session";
import type { Person } from "./auth/local";
import { Dialog } from "./ui/Dialog";
import { Failure } from "./ui/Failure";
import { holdsSomething, letGo } from "./ui/leaving";
import { Untrusted } from "./ui/Untrusted";

// Without its script the header is as good; pages that cannot be loaded say why.
const CaseSwitcher = lazy(() => import("./ui/CaseSwitcher").catch(() => ({ default: () => null })));

/** The areas, and the pages that belong to each. */
const AREAS = [
  ["/", "Cases", /^\/(cases|imports?|productions)?(\/|$)/],
  ["/custody", "Custody", /^\/custody(\/|$)/],
  ["/activity", "Activity", /^\/activity(\/|$)/],
  ["/operations", "Operations", /^\/operations(\/|$)/],
] as const;

export function Header() {
  const session = useSession();
  const isSignedIn = session.state === "signed-in";
  return (
    <header className="top">
      <Link href="/" className="brand">
        exhibit-ingest
      </Link>
      {isSignedIn && (
        <Suspense>
          <CaseSwitcher />
        </Suspense>
      )}
      {isSignedIn || session.state === "expired" ? <OwnAreas /> : <Areas hidden={["/operations"]} />}
      {useIsAway() && (
        <p className="away" role="status">
          <span aria-hidden="true">● </span>No connection to the server
        </p>
      )}
      {isSignedIn && <User person={session.person} />}
    </header>
  );
}

/** The areas without those that would refuse the user: devices belong to no case, operations to administrators. */
function OwnAreas() {
  const me = useMe().data;
  const hidden = [me?.cases != null && "/custody", me?.role !== "admin" && "/operations"];
  return <Areas hidden={hidden} />;
}

function Areas({ hidden }: { hidden: (string | false)[] }) {
  const [path] = useLocation();
  return (
    <nav aria-label="Main">
      {AREAS.filter(([href]) => !hidden.includes(href)).map(([href, label, pages]) => (
        <Link
          key={href}
          href={href}
          className="tab"
          aria-current={path === href ? "page" : pages.test(path) ? "true" : undefined}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}

function User({ person }: { person: Person | null }) {
  const [isOpen, setOpen] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  const me = useMe();
  return (
    <div className="user">
      {me.data && (
        <span>
          <Untrusted text={me.data.userName ?? me.data.userId} /> · {me.data.role}
        </span>
      )}
      {person && (
        <button type="button" onClick={() => setOpen(true)}>
          Change user
        </button>
      )}
      <button type="button" onClick={() => (holdsSomething() ? setLeaving(true) : signOut())}>
        Sign out
      </button>
      {isLeaving && <SignOut onClose={() => setLeaving(false)} />}
      {person && isOpen && <ChangeUser person={person} onClose={() => setOpen(false)} />}
    </div>
  );
}

/** The question before a sign-out loses what this window alone has. */
function SignOut({ onClose }: { onClose: () => void }) {
  const leave = () => {
    letGo();
    signOut();
  };
  return (
    <Dialog title="Sign out?" open onClose={onClose}>
      <Loss>Signing out</Loss>
      <div className="bar">
        <button type="button" className="primary" autoFocus onClick={onClose}>
          Stay signed in
        </button>
        <button type="button" onClick={leave}>
          Sign out, and lose it
        </button>
      </div>
    </Dialog>
  );
}

const Loss = ({ children }: { children: ReactNode }) => (
  <p>
    {children} stops uploads of this window, and loses corrections that are not imported, files that were chosen and
    settings that are not stored yet.
  </p>
);

const ROLES = ["viewer", "editor", "admin"] as const;

function ChangeUser({ person, onClose }: { person: Person; onClose: () => void }) {
  const [hasSomething] = useState(holdsSomething);
  const id = useId();
  const change = useMutation({
    mutationFn: become,
    onSuccess: () => {
      letGo();
      location.reload();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const entered = new FormData(event.currentTarget);
    const [tenant, user] = [String(entered.get("tenant")), String(entered.get("user"))];
    const role = ROLES.find((each) => each === entered.get("role")) ?? "viewer";
    change.mutate({ tenant, user, role });
  };
  return (
    <Dialog title="Change user" open onClose={onClose}>
      <p className="quiet">On this machine only: try what another role or tenant sees.</p>
      {hasSomething && <Loss>The change</Loss>}
      <form className="fields" onSubmit={submit}>
        <label htmlFor={`${id}-tenant`}>Tenant</label>
        <input id={`${id}-tenant`} name="tenant" defaultValue={person.tenant} required maxLength={64} />
        <label htmlFor={`${id}-user`}>User</label>
        <input id={`${id}-user`} name="user" defaultValue={person.user} required maxLength={64} />
        <label htmlFor={`${id}-role`}>Role</label>
        <select id={`${id}-role`} name="role" defaultValue={person.role}>
          {ROLES.map((role) => (
            <option key={role}>{role}</option>
          ))}
        </select>
        {change.error && <Failure error={change.error} />}
        <button type="submit" className="primary" disabled={change.isPending}>
          Change user
        </button>
      </form>
    </Dialog>
  );
}
