import { Untrusted } from "../../../ui/Untrusted";
import type { Draft } from "./draft";
import { isProperty, labelOf, readText } from "./fields";
import { Changed } from "./Text";

/** What would be saved: each value as it is stored and as it would be. */
export function Summary({ draft }: { draft: Draft }) {
  return (
    <ul className="plain summary">
      {[...draft.texts].map(([place, text]) => (
        <li key={place}>
          <span className="quiet">{isProperty(place) ? <Untrusted text={labelOf(place)} /> : labelOf(place)}:</span>{" "}
          <Changed old={readText(draft.base, place)} now={text.trim() === "" ? null : text} />
        </li>
      ))}
      {(["custodians", "tags"] as const).flatMap((list) => [
        ...draft[list].added.map((name) => (
          <li key={`${list} added ${name}`}>
            <span className="quiet">{ONE[list]}:</span> <Changed old={null} now={name} />{" "}
            <span className="quiet">added</span>
          </li>
        )),
        ...draft[list].removed.map((name) => (
          <li key={`${list} removed ${name}`}>
            <span className="quiet">{ONE[list]}:</span> <Changed old={name} now={null} />
          </li>
        )),
      ])}
    </ul>
  );
}

const ONE = { custodians: "Custodian", tags: "Tag" } as const;
