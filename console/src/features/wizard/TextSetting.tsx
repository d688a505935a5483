import { useEffect, useId, useState } from "react";

interface TextSettingProps {
  label: string;
  value: string;
  placeholder?: string;
  maxLength?: number;
  isNumber?: boolean;
  /** While the user types, for what follows at once, such as an example. */
  onInput?: (value: string) => void;
  onChange: (value: string | undefined) => void;
}

/** A text that takes effect when the user leaves its field or presses Enter, not with each letter. */
export function TextSetting({ label, value, placeholder, maxLength, isNumber, onInput, onChange }: TextSettingProps) {
  const id = useId();
  const [entered, setEntered] = useState(value);
  useEffect(() => setEntered(value), [value]);
  const take = () => {
    if (entered !== value) onChange(entered || undefined);
  };
  return (
    <span className="text-setting">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type={isNumber ? "number" : "text"}
        min={isNumber ? 1 : undefined}
        value={entered}
        placeholder={placeholder}
        maxLength={maxLength}
        onChange={(event) => {
          setEntered(event.target.value);
          onInput?.(event.target.value);
        }}
        onBlur={take}
        onKeyDown={(event) => event.key === "Enter" && take()}
      />
    </span>
  );
}
