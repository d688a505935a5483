"""API Gateway: what is handed to the other side, under which Bates numbers."""

from core.contracts import productions as its
from shell import http_api as api
from shell import production_query_ops, production_request_ops
from shell.request_ops import changed

app = api.http_app()
lambda_handler = api.http_handler(app)


@app.post("/productions", responses=api.answers(202, its.Production, 404, 409, 422, location=True))
def create_production(body: its.NewProduction, asked: api.Asked, key: api.Key) -> api.Answered:
    """Have exhibits produced: Bates numbers, files and load files of a volume, all of it or nothing."""
    effect = production_request_ops.create_production
    return changed(asked, key, effect, body, at="/productions", status=202, announces=True)


@app.get("/productions", responses=api.answers(200, its.ProductionPage, 404))
def list_productions(asked: api.Asked, which: api.WhichProductions) -> its.ProductionPage:
    """List productions, newest first."""
    return production_query_ops.list_productions(asked.caller, **which.model_dump())


@app.get("/productions/<production_id>", responses=api.answers(200, its.Production, 404))
def get_production(production_id: api.PathId, asked: api.Asked) -> its.Production:
    """Show how far a production is, step by step."""
    return production_query_ops.get_production(asked.caller, production_id)


@app.get("/productions/<production_id>/documents", responses=api.answers(200, its.ProducedDocumentPage, 404))
def list_produced_documents(production_id: api.PathId, asked: api.Asked, page: api.Page) -> its.ProducedDocumentPage:
    """List which exhibit has which Bates numbers, in their order."""
    return production_query_ops.list_documents(asked.caller, production_id, **page.model_dump())


@app.post("/productions/<production_id>/cancel", responses=api.answers(200, its.Production, 404, 409, 422))
def cancel_production(production_id: api.PathId, asked: api.Asked, key: api.Key) -> api.Answered:
    """Have a production undone that is not confirmed yet: its objects deleted, its numbers void."""
    return changed(asked, key, production_request_ops.cancel_production, production_id)


@app.post("/productions/<production_id>/retry", responses=api.answers(200, its.Production, 404, 409, 422))
def retry_production(production_id: api.PathId, asked: api.Asked, key: api.Key) -> api.Answered:
    """Go on with a production that needs attention, once its cause is mended."""
    return changed(asked, key, production_request_ops.retry_production, production_id, announces=True)
