import { useId, type ReactNode } from "react";
import type { Options } from "./kept";
import { Panel } from "./Panel";

type Mode = NonNullable<Options["mode"]>;

interface WhatPanelProps {
  options: Options;
  isVolume: boolean;
  isOpen: boolean;
  canChange: boolean;
  onChange: (options: Options) => void;
  onToggle?: (isOpen: boolean) => void;
}

const MODES: [Mode, string, string][] = [
  ["append", "Add new documents", "A row whose document the case has with other values is rejected."],
  ["overlay", "Change documents", "A row changes its document; one without a document is rejected."],
  [
    "append_overlay",
    "Add or change documents",
    "A row changes its document, or adds it where the case does not have it.",
  ],
];

/** What the rows do with documents that the case has. */
export function WhatPanel({ options, isVolume, isOpen, canChange, onChange, onToggle }: WhatPanelProps) {
  const mode = options.mode ?? "append";
  const name = useId();
  return (
    <Panel
      number={5}
      title="Mode"
      isOpen={isOpen}
      onToggle={onToggle}
      line={<span>{MODES.find(([each]) => each === mode)![1].toLowerCase()}</span>}
    >
      <fieldset className="choices" disabled={!canChange}>
        <legend className="unseen">What the rows do</legend>
        {MODES.map(([each, label, explained]) => (
          <label key={each}>
            <input
              type="radio"
              name={name}
              checked={mode === each}
              onChange={() => onChange(each === "append" ? withoutOverlay(options) : { ...options, mode: each })}
            />
            <span>
              {label} <span className="quiet">– {explained}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {mode !== "append" && <Overlay {...{ options, onChange, canChange, mode }} />}
      {isVolume && <VolumeSettings {...{ options, onChange, canChange }} />}
    </Panel>
  );
}

function withoutOverlay(options: Options): Options {
  return { ...options, mode: null, overlayKey: null, blanks: null, multiValues: null };
}

interface SettingsProps {
  options: Options;
  canChange: boolean;
  onChange: (options: Options) => void;
}

function Overlay({ options, onChange, canChange, mode }: SettingsProps & { mode: Mode }) {
  return (
    <details>
      <summary>Overlay settings</summary>
      <fieldset className="settings" disabled={!canChange}>
        <legend className="unseen">Overlay settings</legend>
        <Choice
          label="A row finds its document by"
          value={options.overlayKey ?? "control_number"}
          choices={[
            ["control_number", "control number"],
            ...(mode === "overlay" ? ([["bates_begin", "Bates begin"]] as [string, string][]) : []),
          ]}
          onChange={(value) => onChange({ ...options, overlayKey: value as Options["overlayKey"] })}
        />
        <Choice
          label="A blank cell"
          value={options.blanks ?? "keep"}
          choices={[
            ["keep", "keeps the stored value"],
            ["clear", "clears it"],
          ]}
          onChange={(value) => onChange({ ...options, blanks: value as Options["blanks"] })}
        />
        <Choice
          label="Custodians and tags"
          value={options.multiValues ?? "merge"}
          choices={[
            ["merge", "are added to those of the document"],
            ["replace", "replace those of the document"],
          ]}
          onChange={(value) => onChange({ ...options, multiValues: value as Options["multiValues"] })}
        />
      </fieldset>
    </details>
  );
}

function VolumeSettings({ options, onChange, canChange }: SettingsProps) {
  return (
    <details>
      <summary>Missing files and checks of files</summary>
      <fieldset className="choices" disabled={!canChange}>
        <legend className="unseen">Missing files and checks of files</legend>
        <Box
          isOn={options.missingFiles === "reject"}
          onChange={(isOn) => onChange({ ...options, missingFiles: isOn ? "reject" : null })}
        >
          Reject a row whose native or text is missing <span className="quiet">– otherwise it gets a warning</span>
        </Box>
        <Box
          isOn={options.verifyHashes === true}
          onChange={(isOn) => onChange({ ...options, verifyHashes: isOn || null })}
        >
          Read the files and compare their hashes with the load file
        </Box>
        <Box
          isOn={options.verifyImages === true}
          onChange={(isOn) => onChange({ ...options, verifyImages: isOn || null })}
        >
          Open the images and count their pages
        </Box>
      </fieldset>
    </details>
  );
}

function Box(props: { isOn: boolean; onChange: (isOn: boolean) => void; children: ReactNode }) {
  return (
    <label>
      <input type="checkbox" checked={props.isOn} onChange={(event) => props.onChange(event.target.checked)} />
      <span>{props.children}</span>
    </label>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  choices: [string, string][];
  onChange: (value: string) => void;
}

function Choice({ label, value, choices, onChange }: ChoiceProps) {
  const id = useId();
  return (
    <div className="setting">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value)}>
        {choices.map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}
