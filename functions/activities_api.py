"""Serve the API of activities, of operations, and of devices and their holders."""

from core.contracts import activities as schemas
from core.contracts import custody, operations
from shell.activities import queries
from shell.api import app as api
from shell.api.mutations import WRITES_EVENTS, run_idempotent
from shell.custody import devices
from shell.operations import commands as retries
from shell.operations import queries as works

app = api.http_app()
lambda_handler = api.http_handler(app)


@app.get("/activities", **api.for_viewers(200, schemas.ActivityPage, 404))
def list_activities(request: api.Request, filters: api.ActivityFilter) -> schemas.ActivityPage:
    """List what users and the application did, newest first."""
    return queries.list_activities(request.caller, filters)


@app.get("/operations", **api.for_admins(200, operations.Operations))
def get_operations(request: api.Request) -> operations.Operations:
    """Get what runs, waits and failed in all cases, and the events that could not be published."""
    return works.get_operations(request.caller)


@app.post("/operations/events/retry", **api.for_admins(200, operations.EventsRetried, 409, 422))
def retry_events(request: api.Request, key: api.Key) -> api.Response:
    """Publish the oldest 1,000 events again that could not be published."""
    return run_idempotent(request, key, retries.retry_events, options=WRITES_EVENTS)


@app.post("/operations/events/<event_id>/retry", **api.for_admins(200, operations.EventsRetried, 404, 409, 422))
def retry_event(event_id: api.Id, request: api.Request, key: api.Key) -> api.Response:
    """Publish an event again that could not be published."""
    return run_idempotent(request, key, retries.retry_event, event_id, options=WRITES_EVENTS)


@app.get("/devices", **api.for_viewers(200, custody.DevicePage))
def list_devices(request: api.Request, filters: api.DevicesFilter) -> custody.DevicePage:
    """List devices with their labels and present holders, ordered by your numbers."""
    return devices.list_devices(request.caller, **filters.model_dump())


@app.put("/devices/<device_id>", **api.for_editors(200, custody.Device, 409, 422))
def label_device(
    device_id: api.Id, body: custody.DeviceLabel, request: api.Request, key: api.OptionalKey = None
) -> api.Response:
    """Label a device. Of several requests the last one decides; a device that is not known is added."""
    return run_idempotent(request, key, devices.label_device, device_id, body)
