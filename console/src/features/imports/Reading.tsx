import type { Schemas } from "../../api/client";
import { Untrusted } from "../../ui/Untrusted";
import { nameSign } from "../../ui/signs";

type Details = Schemas["ImportDetails"];

const WHY: Record<Schemas["MappingReason"], string> = {
  given: "chosen for this import",
  profile: "by the profile",
  synonym: "a known name",
  pattern: "a name of known words",
  content: "by its values",
  property: "not the name of a field",
};

/** How the file was read: what was detected or chosen, and what every column feeds. */
export function Reading({ details }: { details: Details }) {
  const { reading, columns, profile } = details;
  if (!reading && !columns && !profile) return null;
  return (
    <details className="group">
      <summary>How the file was read</summary>
      <dl className="pairs">
        {profile && (
          <>
            <dt>Profile</dt>
            <dd>
              <Untrusted text={profile.name} /> · version {profile.version}
            </dd>
          </>
        )}
        {reading && <Format reading={reading} />}
        {details.loadMode && (
          <>
            <dt>Rows</dt>
            <dd>{details.loadMode.mode.replaceAll("_", " and ")}</dd>
          </>
        )}
        {details.sha256 && (
          <>
            <dt>SHA-256</dt>
            <dd className="mono">{details.sha256}</dd>
          </>
        )}
      </dl>
      {columns && <Columns columns={columns} />}
    </details>
  );
}

function Format({ reading }: { reading: Schemas["FileReading"] }) {
  const pairs: [string, string][] = [
    ["Encoding", reading.encoding],
    ["Delimiter", nameSign(reading.delimiter)],
    ["Qualifier", nameSign(reading.qualifier)],
    ["Line break in cells", nameSign(reading.newline)],
    ["First line", reading.header ? "names of the columns" : "a row"],
    ["Dates", reading.dateOrder === "DMY" ? "day before month" : "month before day"],
    ["Time zone", reading.timeZone ?? "none: times are stored as they are written"],
  ];
  return pairs.map(([name, value]) => (
    <div key={name} className="contents">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  ));
}

function Columns({ columns }: { columns: Schemas["ImportColumn"][] }) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Columns">
      <table className="list">
        <thead>
          <tr>
            <th scope="col">Column</th>
            <th scope="col">Field</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {columns.map((each, index) => (
            <tr key={index}>
              <th scope="row">
                <Untrusted text={each.name} />
              </th>
              <td>{each.field?.replaceAll("_", " ") ?? "property"}</td>
              <td>
                {WHY[each.why]}
                {each.field === null && each.looksLike !== null && `; looks like: ${each.looksLike}`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
