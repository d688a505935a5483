import { createElement, lazy, type ComponentType } from "react";
import { holdsSomething } from "./leaving";

/** The script of a page could not be loaded. */
export class MissingPage extends Error {
  constructor(
    /** Whether the server has another version of the console, which does not have the script any more. */
    readonly isReplaced: boolean,
    /** Have the script requested again when the page is shown the next time. */
    readonly renew: () => void,
  ) {
    super("The script of a page could not be loaded.");
  }
}

/**
 * A page whose script is loaded when it is needed. `name` is that of the page.
 *
 * After a new deployment the script of the old one is gone: the window reloads once by itself, where that loses nothing.
 * Otherwise, and where the script is missing for another reason, the page throws MissingPage.
 */
export function lazily<Props extends object>(
  name: string,
  load: () => Promise<{ default: ComponentType<Props> }>,
): ComponentType<Props> {
  const reloaded = `reloaded:${name}`;
  const attempt = async () => {
    try {
      const page = await load();
      sessionStorage.removeItem(reloaded);
      return page;
    } catch {
      const isReplaced = await hasOtherVersion();
      if (!isReplaced || sessionStorage.getItem(reloaded) || holdsSomething()) throw new MissingPage(isReplaced, renew);
      sessionStorage.setItem(reloaded, "once");
      location.reload();
      return new Promise<never>(() => undefined);
    }
  };
  const renew = () => void (Loaded = lazy(attempt));
  let Loaded = lazy(attempt);
  return (props) => createElement(Loaded, props);
}

/** Whether the server has another version than this window. */
async function hasOtherVersion(): Promise<boolean> {
  const script = document.querySelector("script[type=module][src]")?.getAttribute("src");
  const page = await fetch("/console/", { cache: "no-store" }).then(
    (response) => (response.ok ? response.text() : null),
    () => null,
  );
  return page !== null && script != null && !page.includes(script);
}
