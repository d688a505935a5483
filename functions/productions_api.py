"""Serve the API of productions."""

from functools import partial

from core.contracts import productions as schemas
from shell.api import app as api
from shell.api.conditional import IfNoneMatch, respond_to_poll
from shell.api.mutations import WRITES_EVENTS, ResponseOptions, run_idempotent
from shell.productions import checks, commands, queries

app = api.http_app()
lambda_handler = api.http_handler(app)


@app.post("/productions", **api.for_editors(202, schemas.Production, 404, 409, 422, location=True))
def create_production(body: schemas.NewProduction, request: api.Request, key: api.Key) -> api.Response:
    """Produce exhibits: reserve Bates numbers, copy files and write load files, all or nothing."""
    check = partial(checks.refuse_blocked_production, request.caller, body)
    options = ResponseOptions(status=202, location="/productions", writes_events=True, check=check)
    return run_idempotent(request, key, commands.create_production, body, options=options)


@app.post("/productions/check", **api.for_viewers(200, schemas.ProductionCheck, 404, 409, 422))
def check_production(body: schemas.NewProduction, request: api.Request) -> schemas.ProductionCheck:
    """Check what a production would be, without requesting it: families, files, pages and Bates numbers."""
    return checks.check_production(request.caller, body)


@app.get("/productions", **api.for_viewers(200, schemas.ProductionPage, 404))
def list_productions(request: api.Request, filters: api.ProductionFilter) -> schemas.ProductionPage:
    """List productions, newest first."""
    return queries.list_productions(request.caller, filters)


@app.get("/productions/<production_id>", **api.for_polls(schemas.Production))
def get_production(production_id: api.Id, request: api.Request, known: IfNoneMatch = None) -> api.Response:
    """Get the status of a production and of each of its steps."""
    return respond_to_poll(known, queries.get_production(request.caller, production_id))


@app.get("/productions/<production_id>/documents", **api.for_viewers(200, schemas.ProducedDocumentPage, 404))
def list_produced_documents(
    production_id: api.Id, request: api.Request, page: api.List
) -> schemas.ProducedDocumentPage:
    """List a production's documents with their Bates numbers, in order."""
    return queries.list_documents(request.caller, production_id, page)


@app.post("/productions/<production_id>/cancel", **api.for_admins(200, schemas.Production, 404, 409, 422))
def cancel_production(production_id: api.Id, request: api.Request, key: api.Key) -> api.Response:
    """Cancel a production that is not confirmed: delete its objects and void its numbers."""
    return run_idempotent(request, key, commands.cancel_production, production_id)


@app.post("/productions/<production_id>/retry", **api.for_editors(200, schemas.Production, 404, 409, 422))
def retry_production(production_id: api.Id, request: api.Request, key: api.Key) -> api.Response:
    """Retry a production that needs attention, after its cause is fixed."""
    return run_idempotent(request, key, commands.retry_production, production_id, options=WRITES_EVENTS)
