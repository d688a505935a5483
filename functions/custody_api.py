"""Serve the API of custody periods."""

from core.contracts import custody as schemas
from shell.api import app as api
from shell.api.mutations import CREATED, WITH_ETAG, parse_if_match, respond_with_etag, run_idempotent
from shell.custody import commands, queries

app = api.http_app(is_by_case=False)  # a device belongs to no case
lambda_handler = api.http_handler(app)


@app.post("/custody-periods", **api.for_editors(201, schemas.RecordedCustodyPeriods, 409, 422))
def add_custody_periods(body: api.Batch[schemas.NewPeriod], request: api.Request, key: api.Key) -> api.Response:
    """Record custody periods, all or none. The periods of a device must not overlap."""
    return run_idempotent(request, key, commands.add_periods, body, options=CREATED)


@app.get("/custody-periods", **api.for_viewers(200, schemas.CustodyPeriodPage))
def list_custody_periods(request: api.Request, filters: api.PeriodFilter) -> schemas.CustodyPeriodPage:
    """List a device's custody periods, in chronological order."""
    return queries.list_periods(request.caller, filters)


@app.get("/custody-periods/<period_id>", **api.for_viewers(200, schemas.CustodyPeriod, 404, etag=True))
def get_custody_period(period_id: api.Id, request: api.Request) -> api.Response:
    """Get a custody period. Its ETag is required to change or remove it."""
    return respond_with_etag(queries.get_period(request.caller, period_id))


@app.patch("/custody-periods/<period_id>", **api.for_editors(200, schemas.CustodyPeriod, *api.VERSIONED, etag=True))
def change_custody_period(
    period_id: api.Id,
    body: schemas.PeriodPatch,
    request: api.Request,
    if_match: api.IfMatch = None,
    key: api.OptionalKey = None,
) -> api.Response:
    """Change a custody period with a JSON merge patch, if If-Match names its current version."""
    versions = parse_if_match(if_match)
    return run_idempotent(request, key, commands.patch_period, period_id, versions, body, options=WITH_ETAG)


@app.delete("/custody-periods/<period_id>", **api.for_admins(200, schemas.CustodyPeriod, *api.VERSIONED))
def remove_custody_period(
    period_id: api.Id, request: api.Request, if_match: api.IfMatch = None, key: api.OptionalKey = None
) -> api.Response:
    """Remove a custody period, if If-Match names its current version. GET /custody-changes still lists it."""
    return run_idempotent(request, key, commands.remove_period, period_id, parse_if_match(if_match))


@app.post("/custody-transfers", **api.for_editors(201, schemas.CustodyTransfer, 409, 422))
def transfer_custody(body: schemas.NewTransfer, request: api.Request, key: api.Key) -> api.Response:
    """Transfer a device: end its holder's period and begin the receiver's period, both or neither."""
    return run_idempotent(request, key, commands.transfer, body, options=CREATED)


@app.get("/custody-changes", **api.for_viewers(200, schemas.CustodyChangePage))
def list_custody_changes(request: api.Request, filters: api.DeviceFilter) -> schemas.CustodyChangePage:
    """List every change to a device's custody periods, with its user and its time."""
    return queries.list_changes(request.caller, filters)
