"""Serve the API of activities, and of devices and their holders."""

from core.contracts import activities as schemas
from core.contracts import custody
from shell.activities import queries
from shell.api import app as api
from shell.api.mutations import run_idempotent
from shell.custody import devices

app = api.http_app()
lambda_handler = api.http_handler(app)


@app.get("/activities", **api.for_viewers(200, schemas.ActivityPage, 404))
def list_activities(request: api.Request, filters: api.ActivityFilter) -> schemas.ActivityPage:
    """List what users and the application did, newest first."""
    return queries.list_activities(request.caller, filters)


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
