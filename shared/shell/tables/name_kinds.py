"""The two kinds of names that load files give to exhibits, with the tables that store and reference them."""

from dataclasses import dataclass

from shell.tables.custodians_tags import Custodians, Tags


# Each kind is equal to itself alone, which makes it a quick key.
@dataclass(frozen=True, eq=False)
class NameKind:
    """A kind of name: its model, the table that links it to exhibits, and every table that references it.

    `table` is also the field of load files that holds the names, and the value of `import_name_occurrences.kind`.
    `key_column` is the column of the names' ids in the link table and in all `referencing_tables`.
    """

    model: type[Custodians | Tags]
    key_column: str
    link_table: str
    referencing_tables: tuple[str, ...]

    @property
    def table(self) -> str:
        """The table of the names."""
        return self.model.__tablename__

    @property
    def link_columns(self) -> tuple[str, ...]:
        """The columns of the link table; the first two are its primary key."""
        return ("exhibit_id", self.key_column, "user_id")


CUSTODIANS = NameKind(
    Custodians, "custodian_id", "custodian_exhibits", ("custodian_exhibits", "custody_periods", "custody_changes")
)
TAGS = NameKind(Tags, "tag_id", "taggings", ("taggings",))
NAME_KINDS = (CUSTODIANS, TAGS)
