"""Serve the files of completed productions, and the Bates prefixes of a case."""

from core.contracts import productions as schemas
from shell.api import app as api
from shell.productions import files, queries

app = api.http_app()
lambda_handler = api.http_handler(app)


@app.get("/productions/<production_id>/files", **api.for_viewers(200, schemas.ProducedFilePage, 404, 409))
def list_produced_files(production_id: api.Id, request: api.Request, page: api.Page) -> schemas.ProducedFilePage:
    """List the files of a confirmed production, with URLs to download them."""
    return files.list_files(request.caller, production_id, **page.model_dump())


@app.get("/bates-prefixes", **api.for_viewers(200, schemas.BatesPrefixPage, 404))
def list_bates_prefixes(request: api.Request, filters: api.CaseFilter) -> schemas.BatesPrefixPage:
    """List the Bates prefixes of a case, with the next number of each and its void numbers."""
    return queries.list_prefixes(request.caller, filters)
