"""Serve the API of cases, and of who the caller and other users are."""

from core.contracts import cases as schemas
from core.contracts.users import Me, UserList
from shell.api import app as api
from shell.api.mutations import CREATED, respond_with_etag, run_idempotent
from shell.api.routes import case_life
from shell.exhibits import case_list, similar_cases, users

app = api.http_app()
case_life.add_case_routes(app)
lambda_handler = api.http_handler(app)


@app.get("/me", **api.for_viewers(200, Me))
def get_me(request: api.Request) -> Me:
    """Get who the caller is, by its token: user, tenant, role and cases; and the limits of requests."""
    return users.describe_caller(request.caller, request.grant.role, request.grant.expires_at)


@app.get("/users", **api.for_viewers(200, UserList))
def list_users(request: api.Request, query: api.UsersFilter) -> UserList:
    """Get the names of users by their ids. A user without a name, or without a change, is missing."""
    return users.list_users(request.caller, query)


@app.get("/cases", **api.for_viewers(200, schemas.CasePage))
def list_cases(request: api.Request, filters: api.CasesFilter) -> schemas.CasePage:
    """List cases, ordered by name or by their last import."""
    return case_list.list_cases(request.caller, filters)


@app.post("/cases", **api.for_editors(201, schemas.Case, 404, 409, 422))
def add_case(body: schemas.NewCase, request: api.Request, key: api.Key) -> api.Response:
    """Create a case. A name that the tenant has already is a conflict."""
    return run_idempotent(request, key, case_list.add_case, body, options=CREATED)


@app.get("/cases/similar", **api.for_viewers(200, schemas.SimilarCases))
def find_similar_cases(request: api.Request, query: api.SimilarFilter) -> schemas.SimilarCases:
    """Get the case with a name, and those whose names it may be a misspelling of."""
    return similar_cases.find_similar_cases(request.caller, query)


@app.get("/cases/<case_id>", **api.for_viewers(200, schemas.CaseSummary, 404, etag=True))
def get_case(case_id: api.Id, request: api.Request) -> api.Response:
    """Get a case, with the numbers of its documents and imports. Its ETag is required to change it."""
    return respond_with_etag(case_list.get_case(request.caller, case_id))
