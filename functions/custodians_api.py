"""Serve the API of cases and custodians, and the texts of exhibits."""

from core.contracts import cases as case_schemas
from core.contracts import exhibits as schemas
from core.contracts.texts import ExhibitText
from shell.api import app as api
from shell.api.mutations import CREATED, ONE_AT_A_TIME, run_idempotent
from shell.exhibits import case_list, commands, text_reading
from shell.exhibits import custodians as ops

app = api.http_app()
lambda_handler = api.http_handler(app)


@app.get("/cases", **api.for_viewers(200, case_schemas.CasePage))
def list_cases(request: api.Request, filters: api.CasesFilter) -> case_schemas.CasePage:
    """List cases, ordered by name."""
    return case_list.list_cases(request.caller, **filters.model_dump())


@app.post("/cases", **api.for_editors(201, case_schemas.Case, 404, 409, 422))
def add_case(body: case_schemas.NewCase, request: api.Request, key: api.Key) -> api.Response:
    """Create a case. A name that the tenant has already is a conflict."""
    return run_idempotent(request, key, case_list.add_case, body, options=CREATED)


@app.get("/custodians", **api.for_viewers(200, schemas.CustodianPage, 404))
def list_custodians(request: api.Request, filters: api.CaseFilter) -> schemas.CustodianPage:
    """List a case's custodians, ordered by name."""
    return ops.list_custodians(request.caller, **filters.model_dump())


@app.post("/custodians", **api.for_editors(200, schemas.Custodian, 404, 409, 422))
def add_custodian(body: schemas.NewCustodian, request: api.Request, key: api.Key) -> api.Response:
    """Get or create a custodian of a case by name. Names that the database collates as equal are one custodian."""
    return run_idempotent(request, key, ops.add_custodian, body, options=ONE_AT_A_TIME)


@app.post("/exhibits/<exhibit_id>/custodians", **api.for_editors(200, schemas.ExhibitCustodians, 404, 409, 422))
def add_custodians(exhibit_id: api.Id, body: schemas.NewCustodians, request: api.Request, key: api.Key) -> api.Response:
    """Link custodians to an exhibit. Custodians that are linked already stay linked."""
    return run_idempotent(request, key, commands.add_custodians, exhibit_id, body.custodians, options=ONE_AT_A_TIME)


@app.get("/exhibits/<exhibit_id>/text", **api.for_viewers(200, ExhibitText, 404, 422))
def get_text(exhibit_id: api.Id, request: api.Request, part: api.TextPart) -> ExhibitText:
    """Get the text that the cells of a load file have of an exhibit, a part at a time."""
    return text_reading.read_text(request.caller, exhibit_id, part.start)
