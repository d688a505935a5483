"""Serve the API of custodians and tags, and the texts and files of exhibits."""

from core.contracts import exhibit_lists, texts
from core.contracts import exhibits as schemas
from core.contracts.cases import CustodianPage, TagPage
from shell.api import app as api
from shell.api.mutations import ONE_AT_A_TIME, run_idempotent
from shell.exhibit_files import files, text_reading
from shell.exhibits import commands, custodians, named_lists

lambda_handler = api.http_handler(app := api.http_app())


@app.get("/custodians", **api.for_viewers(200, CustodianPage, 404))
def list_custodians(request: api.Request, filters: api.CustodiansFilter) -> CustodianPage:
    """List a case's custodians, ordered by name, with their documents. Search them in all cases without a case."""
    return named_lists.list_custodians(request.caller, filters)


@app.get("/tags", **api.for_viewers(200, TagPage, 404))
def list_tags(request: api.Request, filters: api.TagsFilter) -> TagPage:
    """List a case's tags, ordered by name, with their documents."""
    return named_lists.list_tags(request.caller, filters)


@app.post("/custodians", **api.for_editors(200, schemas.Custodian, 404, 409, 422))
def add_custodian(body: schemas.NewCustodian, request: api.Request, key: api.Key) -> api.Response:
    """Get or create a custodian of a case by name. Names that the database collates as equal are one custodian."""
    return run_idempotent(request, key, custodians.add_custodian, body, options=ONE_AT_A_TIME)


@app.post("/exhibits/<exhibit_id>/custodians", **api.for_editors(200, schemas.ExhibitCustodians, 404, 409, 422))
def add_custodians(exhibit_id: api.Id, body: schemas.NewCustodians, request: api.Request, key: api.Key) -> api.Response:
    """Link custodians to an exhibit. Custodians that are linked already stay linked."""
    return run_idempotent(request, key, commands.add_custodians, exhibit_id, body.custodians, options=ONE_AT_A_TIME)


@app.delete("/exhibits/<exhibit_id>/custodians", **api.for_editors(200, schemas.ExhibitCustodians, 404, 409, 422))
def remove_custodians(
    exhibit_id: api.Id, body: schemas.RemovedCustodians, request: api.Request, key: api.OptionalKey = None
) -> api.Response:
    """Remove custodians from an exhibit. They stay custodians of the case."""
    return run_idempotent(request, key, commands.remove_custodians, exhibit_id, body.custodians)


@app.get("/exhibits/<exhibit_id>/files", **api.for_viewers(200, exhibit_lists.ExhibitFileList, 404))
def list_exhibit_files(exhibit_id: api.Id, request: api.Request, page: api.FilesPage) -> exhibit_lists.ExhibitFileList:
    """List the files of an exhibit, with URLs to get them from."""
    return files.list_files(request.caller, exhibit_id, page)


@app.get("/exhibits/<exhibit_id>/text", **api.for_viewers(200, texts.ExhibitText, 404, 422))
def get_text(exhibit_id: api.Id, request: api.Request, part: api.TextPart) -> texts.ExhibitText:
    """Get the text that the cells of a load file have of an exhibit, a part at a time."""
    return text_reading.read_text(request.caller, exhibit_id, part.start)
