import { useEffect, useState, type ReactNode } from "react";
import { useLocation } from "wouter";
import { Dialog } from "./Dialog";

/** The part of the browser's Navigation API that is used; where it is missing, the Back button does not ask. */
interface NavigateEvent extends Event {
  navigationType: string;
  destination: { key: string };
}
interface Navigation extends EventTarget {
  traverseTo: (key: string) => unknown;
}

const navigation = (globalThis as { navigation?: Navigation }).navigation;

/** Ask before the page is left by a link, the Back button, a reload or the closing of the window. */
export function LeaveGuard(props: { isActive: boolean; title: string; leave: string; children: ReactNode }) {
  const { isActive } = props;
  const [leave, setLeave] = useState<(() => void) | null>(null);
  const [isAllowed, setAllowed] = useState(false);
  const [, navigate] = useLocation();
  useEffect(() => {
    if (!isActive || isAllowed) return;
    const ends = new AbortController();
    const options = { signal: ends.signal };
    const onClick = (event: MouseEvent) => {
      const path = findPath(event);
      if (path === null) return;
      event.preventDefault();
      event.stopPropagation();
      setLeave(() => () => navigate(`~${path}`));
    };
    const onNavigate = (event: Event) => {
      const { navigationType, destination } = event as NavigateEvent;
      if (navigationType !== "traverse" || !event.cancelable) return;
      event.preventDefault();
      setLeave(() => () => navigation!.traverseTo(destination.key));
    };
    document.addEventListener("click", onClick, { ...options, capture: true });
    window.addEventListener("beforeunload", (event) => event.preventDefault(), options);
    navigation?.addEventListener("navigate", onNavigate, options);
    return () => ends.abort();
  }, [isActive, isAllowed, navigate]);
  useEffect(() => {
    if (isAllowed) leave?.();
  }, [isAllowed, leave]);
  if (!leave || isAllowed) return null;
  return (
    <Dialog title={props.title} open onClose={() => setLeave(null)}>
      {props.children}
      <div className="bar">
        <button type="button" className="primary" autoFocus onClick={() => setLeave(null)}>
          Stay here
        </button>
        <button type="button" onClick={() => setAllowed(true)}>
          {props.leave}
        </button>
      </div>
    </Dialog>
  );
}

/** Return where a click leads within the console and in this window; null for any other click. */
function findPath(event: MouseEvent): string | null {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[href]") : null;
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || link.target || link.origin !== location.origin) return null;
  return link.pathname === location.pathname ? null : link.pathname + link.search;
}
