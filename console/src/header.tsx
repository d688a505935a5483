import { useId, useState, type FormEvent } from "react";
import { Link, useLocation } from "wouter";
import { useMe } from "./api/me";
import { become, signOut, useSession } from "./auth/session";
import type { Person } from "./auth/local";
import { Dialog } from "./ui/Dialog";
import { Untrusted } from "./ui/Untrusted";

export function Header() {
  const [path] = useLocation();
  const session = useSession();
  return (
    <header className="top">
      <Link href="/" className="brand">
        exhibit-ingest
      </Link>
      <nav aria-label="Main">
        <Link href="/" className="tab" aria-current={path === "/" ? "page" : undefined}>
          Cases
        </Link>
      </nav>
      {session.state === "signed-in" && <User person={session.person} />}
    </header>
  );
}

function User({ person }: { person: Person | null }) {
  const [isOpen, setOpen] = useState(false);
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
      <button type="button" onClick={signOut}>
        Sign out
      </button>
      {person && isOpen && <ChangeUser person={person} onClose={() => setOpen(false)} />}
    </div>
  );
}

const ROLES = ["viewer", "editor", "admin"] as const;

function ChangeUser({ person, onClose }: { person: Person; onClose: () => void }) {
  const id = useId();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const entered = new FormData(event.currentTarget);
    const [tenant, user] = [String(entered.get("tenant")), String(entered.get("user"))];
    const role = ROLES.find((each) => each === entered.get("role")) ?? "viewer";
    void become({ tenant, user, role }).then(() => location.reload());
  };
  return (
    <Dialog title="Change user" open onClose={onClose}>
      <p className="quiet">On this machine only: try what another role or tenant sees.</p>
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
        <button type="submit" className="primary">
          Change user
        </button>
      </form>
    </Dialog>
  );
}
