import { useMemo, useState } from "react";
import type { Schemas } from "../../api/client";
import { Untrusted } from "../../ui/Untrusted";
import type { Thing } from "../../upload";
import type { Options } from "./kept";
import { VolumeFiles, type PathSettings, type Resolved } from "./paths";
import { cut } from "./Rows";
import { TextSetting } from "./TextSetting";

interface PathsProps {
  thing: Thing | null;
  loadFile: string | null;
  preview: Schemas["ImportPreview"] | null;
  options: Options;
  onChange: (options: Options) => void;
}

/** Where the natives and texts of the rows are looked for, with paths of the file as examples while a prefix is typed. */
export function Paths({ thing, loadFile, preview, options, onChange }: PathsProps) {
  const given: PathSettings = { stripPrefix: [options.stripPrefix ?? []].flat(), addPrefix: options.addPrefix ?? "" };
  const [typed, setTyped] = useState<Partial<PathSettings>>({});
  const settings = { ...given, ...typed };
  const set = (changes: Partial<Options>) => {
    setTyped({});
    onChange({ ...options, ...changes });
  };
  const samples = (preview?.columns ?? [])
    .filter((each) => each.field === "native_path" || each.field === "text_path")
    .flatMap((each) => each.samples.slice(0, 2).map(({ text }) => text));
  return (
    <details className="setting whole" open>
      <summary>Paths of natives, texts and images</summary>
      <div className="settings">
        <TextSetting
          label="Leave out the beginning"
          value={given.stripPrefix.join(" ; ")}
          placeholder="D:\export"
          onInput={(value) => setTyped({ ...typed, stripPrefix: toPrefixes(value) })}
          onChange={(value) => set({ stripPrefix: value ? toPrefixes(value) : null })}
        />
        <TextSetting
          label="Look in the folder"
          value={given.addPrefix}
          placeholder="VOL001"
          onInput={(value) => setTyped({ ...typed, addPrefix: value })}
          onChange={(value) => set({ addPrefix: value ?? null })}
        />
      </div>
      {thing?.kind === "volume" && loadFile && samples.length > 0 ? (
        <Examples thing={thing} loadFile={loadFile} samples={samples} settings={settings} />
      ) : (
        <p className="quiet">The check says which files the paths mean, and which are missing.</p>
      )}
    </details>
  );
}

const toPrefixes = (value: string) =>
  value
    .split(" ; ")
    .map((each) => each.trim())
    .filter(Boolean);

function Examples(props: { thing: Thing; loadFile: string; samples: string[]; settings: PathSettings }) {
  const { thing, loadFile, samples, settings } = props;
  const files = useMemo(
    () =>
      new VolumeFiles(
        thing.files.map((each) => each.path),
        thing.name,
        loadFile,
      ),
    [thing, loadFile],
  );
  return (
    <ul className="plain" aria-label="Examples of paths">
      {samples.map((path, index) => (
        <li key={index}>
          <Untrusted text={cut(path)} /> → <Result resolved={files.resolve(path, settings)} />
        </li>
      ))}
    </ul>
  );
}

function Result({ resolved }: { resolved: Resolved }) {
  if (resolved.result === "found")
    return (
      <span className="good">
        <Untrusted text={cut(resolved.file)} />
      </span>
    );
  if (resolved.result === "ambiguous") return <span className="mark">two files have this path; name the folder</span>;
  if (resolved.result === "refused")
    return <span className="mark">leads out of the volume; leave out its beginning</span>;
  return (
    <span className="mark">
      not in the volume
      {resolved.elsewhere && (
        <>
          ; a file of this name is at <Untrusted text={cut(resolved.elsewhere)} />
        </>
      )}
    </span>
  );
}
