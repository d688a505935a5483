"""API Gateway: who holds documents and devices of a case."""

from core.contracts import exhibits as its
from shell import custodian_request_ops as ops
from shell import http_api as api
from shell.request_ops import changed

app = api.http_app()
lambda_handler = api.http_handler(app)


@app.get("/custodians", responses=api.answers(200, its.CustodianPage, 404))
def list_custodians(asked: api.Asked, which: api.OfCase) -> its.CustodianPage:
    """List a case's custodians in the order of their names."""
    return ops.list_custodians(asked.caller, **which.model_dump())


@app.post("/custodians", responses=api.answers(200, its.Custodian, 409, 422))
def add_custodian(body: its.NewCustodian, asked: api.Asked, key: api.Key) -> api.Answered:
    """Get the case's custodian of a name, added if there is none. Names that the database collates equal are one."""
    return changed(asked, key, ops.add_custodian, body, creates=True)
