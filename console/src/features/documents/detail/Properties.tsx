import { Untrusted } from "../../../ui/Untrusted";
import { Pair } from "./Fields";
import type { Exhibit } from "./fields";
import { PropertyList } from "./PropertyList";
import { Section } from "./Section";
import { FoldedText } from "./Text";

/** The columns of the load file that feed no field. */
export function Properties({ properties }: { properties: Exhibit["properties"] }) {
  const names = Object.keys(properties);
  if (names.length === 0) return null;
  return (
    <Section name="Other columns" note={names.length.toLocaleString()}>
      <PropertyList
        names={names}
        valueOf={(name) => properties[name] ?? ""}
        wrap={(shown) => <dl className="values">{shown}</dl>}
      >
        {(name) => (
          <Pair name={<Untrusted text={name} />}>
            <FoldedText text={properties[name]} />
          </Pair>
        )}
      </PropertyList>
    </Section>
  );
}
