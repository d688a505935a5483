import type { FormEvent, ReactNode } from "react";
import { Chips } from "./filtering/Chips";
import { BatesFilter, DayFilter, Field, FilesFilter, MoreFilter } from "./filtering/Fields";
import { Menu } from "./filtering/Menu";
import { CustodianFilter, TagFilter } from "./filtering/Names";
import type { FilterName, Filters } from "../../api/documentFilters";
import "./filtering/filters.css";

interface FilterBarProps {
  caseId: number;
  filters: Filters;
  onChange: (filters: Filters) => void;
  /** What stands beside the filters. */
  children?: ReactNode;
}

/** What the list is narrowed to: fields and menus, and each filter with the link that takes it away. */
export function FilterBar({ caseId, filters, onChange, children }: FilterBarProps) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const entered = new FormData(event.currentTarget);
    onChange({ ...filters, title: String(entered.get("title") ?? "").trim() });
  };
  const count = (...names: FilterName[]) => names.reduce((sum, name) => sum + sizeOf(filters[name]), 0);
  const part = (close: () => void) => ({
    filters,
    onChange: (changed: Filters) => {
      close();
      onChange(changed);
    },
  });
  return (
    <>
      <div className="bar finding">
        <div className="bar filters" role="search" aria-label="Documents">
          <form className="bar" onSubmit={submit} key={filters.title}>
            <Field name="title" label="Words of the title" value={filters.title} />
            <button type="submit">Find documents</button>
          </form>
          <div className="menus">
            <Menu label="Custodian" active={count("custodian")}>
              {(close) => <CustodianFilter caseId={caseId} {...part(close)} />}
            </Menu>
            <Menu label="Tag" active={count("tag", "tagTree", "withoutTag")}>
              {(close) => <TagFilter caseId={caseId} {...part(close)} />}
            </Menu>
            <Menu label="Date" active={count("dateFrom", "dateTo")}>
              {(close) => <DayFilter {...part(close)} />}
            </Menu>
            <Menu label="Bates" active={count("bates", "batesFrom", "batesTo")}>
              {(close) => <BatesFilter {...part(close)} />}
            </Menu>
            <Menu label="Files" active={count("hasNative", "hasText", "hasImages")}>
              {(close) => <FilesFilter {...part(close)} />}
            </Menu>
            <Menu label="More" active={count("confidentiality", "family", "import", "changed")}>
              {(close) => <MoreFilter {...part(close)} />}
            </Menu>
          </div>
        </div>
        {children}
      </div>
      <Chips caseId={caseId} filters={filters} />
    </>
  );
}

const sizeOf = (value: Filters[FilterName]): number =>
  Array.isArray(value) ? value.length : value === undefined || value === "" ? 0 : 1;
