"""API Gateway: who held which evidence device, from when to when."""

from typing import Annotated

from core.contracts import custody as its
from shell import custody_ops, custody_query_ops
from shell import http_api as api
from shell.request_ops import allowed_versions, changed, etag_of, shown

Periods = Annotated[list[its.NewPeriod], api.Body(min_length=1, max_length=its.MAX_PERIODS)]

app = api.http_app()
lambda_handler = api.http_handler(app)


@app.post("/custody-periods", responses=api.answers(201, its.CustodyPeriods, 409, 422))
def add_custody_periods(body: Periods, asked: api.Asked, key: api.Key) -> api.Answered:
    """Record who held devices, all of the periods or none. No two periods of a device may overlap."""
    return changed(asked, key, custody_ops.add_periods, body, status=201)


@app.get("/custody-periods", responses=api.answers(200, its.CustodyPeriodPage))
def list_custody_periods(asked: api.Asked, which: api.WhichPeriods) -> its.CustodyPeriodPage:
    """List who held a device, in the order of time."""
    return custody_query_ops.list_periods(asked.caller, **which.model_dump())


@app.get("/custody-periods/<period_id>", responses=api.answers(200, its.CustodyPeriod, 404, etag=True))
def get_custody_period(period_id: api.PathId, asked: api.Asked) -> api.Answered:
    """Show a period; its ETag is what a change needs."""
    return shown(custody_query_ops.get_period(asked.caller, period_id))


@app.patch("/custody-periods/<period_id>", responses=api.answers(200, its.CustodyPeriod, *api.VERSIONED, etag=True))
def change_custody_period(
    period_id: api.PathId, body: its.Revision, asked: api.Asked, if_match: api.IfMatch = None, key: api.MaybeKey = None
) -> api.Answered:
    """Extend, end or correct a period, as a JSON merge patch, if it is still the version that If-Match names."""
    versions = allowed_versions(if_match)
    return changed(asked, key, custody_ops.change_period, period_id, versions, body, headers=etag_of)


@app.delete("/custody-periods/<period_id>", responses=api.answers(200, its.CustodyPeriod, *api.VERSIONED))
def remove_custody_period(
    period_id: api.PathId, asked: api.Asked, if_match: api.IfMatch = None, key: api.MaybeKey = None
) -> api.Answered:
    """Remove a period that is still the version that If-Match names; GET /custody-changes goes on to tell of it."""
    return changed(asked, key, custody_ops.remove_period, period_id, allowed_versions(if_match))


@app.post("/custody-transfers", responses=api.answers(201, its.CustodyTransfer, 409, 422))
def transfer_custody(body: its.NewTransfer, asked: api.Asked, key: api.Key) -> api.Answered:
    """Hand a device on: end its holder's period and begin the next one's, both or neither."""
    return changed(asked, key, custody_ops.transfer, body, status=201)


@app.get("/custody-changes", responses=api.answers(200, its.CustodyChangePage))
def list_custody_changes(asked: api.Asked, which: api.OfDevice) -> its.CustodyChangePage:
    """List all that was ever recorded, corrected and removed of a device, and by whom."""
    return custody_query_ops.list_changes(asked.caller, **which.model_dump())
