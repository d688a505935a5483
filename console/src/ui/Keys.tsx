import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { Dialog } from "./Dialog";
import { areKeysOn, findKey, listKeys, takesText, turnKeys, useKeys } from "./keys";

const PAIR_MS = 1_500;
const SEARCH = "main [data-search], main input[type=search], main [role=search] input";

/** Listens to the keys of the page, has those of every page, and lists all of them on `?`. */
export function Keys() {
  const [isOpen, setOpen] = useState(false);
  const [path, navigate] = useLocation();
  const ofCase = /^\/cases\/\d+/.exec(path)?.[0];
  const go = (keys: string, does: string, to: string) => ({ keys, does, run: () => navigate(to) });
  useKeys("Every page", [
    { keys: "?", does: "show the keys", run: () => setOpen(true) },
    { keys: "/", does: "go to the search of the page", run: focusSearch },
    go("g c", "go to the cases", "/"),
    ...(ofCase
      ? [
          go("g d", "go to the documents of the case", `${ofCase}/documents`),
          go("g i", "go to its imports", `${ofCase}/imports`),
        ]
      : []),
  ]);
  useListening();
  return isOpen ? <List onClose={() => setOpen(false)} /> : null;
}

function focusSearch(): void {
  const search = document.querySelector<HTMLInputElement>(SEARCH);
  search?.focus();
  search?.select();
}

function useListening() {
  useEffect(() => {
    let [before, at] = ["", 0];
    const onKey = (event: KeyboardEvent) => {
      const isOther = event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing;
      if (isOther || takesText(event.target) || document.querySelector("dialog[open]")) return;
      if (!areKeysOn() && event.key !== "?" && event.key.length === 1) return;
      const { key, begun } = findKey(event.key, event.timeStamp - at < PAIR_MS ? before : "");
      [before, at] = [begun, event.timeStamp];
      if (!key && !begun) return;
      event.preventDefault();
      key?.run?.();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

function List({ onClose }: { onClose: () => void }) {
  const [isOn, setOn] = useState(areKeysOn);
  return (
    <Dialog title="Keys" open onClose={onClose}>
      {listKeys().map(({ title, keys }) => (
        <section key={title}>
          <h3>{title}</h3>
          <dl className="keys">
            {keys.map(({ keys: pressed, does }) => (
              <div key={pressed}>
                <dt>
                  {pressed.split(" ").map((each) => (
                    <kbd key={each}>{each}</kbd>
                  ))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <p>
        <label>
          <input
            type="checkbox"
            checked={isOn}
            onChange={(event) => {
              turnKeys(event.target.checked);
              setOn(event.target.checked);
            }}
          />{" "}
          Keys of one letter are on, in this window until it is loaded again
        </label>
      </p>
      <div className="bar">
        <button type="button" className="primary" autoFocus onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
