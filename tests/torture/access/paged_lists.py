"""The lists that come in pages, and what each is of where a tenant has one of everything."""

from __future__ import annotations

from typing import Any, Protocol


class Owner(Protocol):
    """A tenant with one of everything."""

    @property
    def mark(self) -> str:
        """What is in all its names."""

    @property
    def more(self) -> int:
        """How many more documents it has."""

    @property
    def ids(self) -> dict[str, Any]:
        """The ids of what it has."""

    @property
    def case(self) -> str:
        """The case that no other tenant has."""

    @property
    def device(self) -> int:
        """The device that no other tenant has."""


def lists_of(tenant: Owner, device: int) -> dict[str, dict[str, Any]]:
    """Every list that comes in pages, and what it is of; the first page of a case is of what both tenants have."""
    loaded = {"path:importId": tenant.ids["loaded"]}
    of_case = {"query:case": tenant.case, "query:limit": 2}
    of_device = {"query:deviceId": device}
    return {
        "GET /cases": {"query:prefix": tenant.mark},
        "GET /imports": {},
        "GET /profiles": {},
        "GET /imports/{importId}/rejections": loaded,
        "GET /imports/{importId}/rejected-rows": loaded,
        "GET /imports/{importId}/warnings": loaded,
        "GET /imports/{importId}/findings": {"path:importId": tenant.ids["checked"]},
        "GET /imports/{importId}/undo/kept": {**loaded, "query:limit": 4},
        "GET /exhibits": of_case,
        "GET /exhibits/keys": {**of_case, "query:every": 1},
        "GET /exhibits/{exhibitId}/changes": {"path:exhibitId": tenant.ids["exhibits"][0]},
        "GET /exhibits/{exhibitId}/pages": {
            "path:exhibitId": tenant.ids["exhibits"][0],
            "query:limit": 1 + tenant.more,
        },
        "GET /exhibits/{exhibitId}/files": {
            "path:exhibitId": tenant.ids["exhibits"][0],
            "query:limit": 1 + tenant.more,
        },
        "GET /custodians": of_case,
        "GET /tags": {"query:case": tenant.case, "query:order": "desc"},
        "GET /custody-periods": of_device,
        "GET /custody-changes": of_device,
        "GET /activities": {},
        "GET /exports": {},
        "GET /devices": {"query:search": str(tenant.device)},
        "GET /bates-prefixes": {"query:case": tenant.case},
        "GET /volumes": {},
        "GET /volumes/{volumeId}/files": {"path:volumeId": tenant.ids["volume"], "query:limit": 1 + tenant.more},
        "GET /tagging-jobs": {},
        "GET /productions": {},
        "GET /productions/{productionId}/documents": {"path:productionId": tenant.ids["confirmed"]},
        "GET /productions/{productionId}/files": {
            "path:productionId": tenant.ids["confirmed"],
            "query:limit": 1 + tenant.more,
        },
    }
