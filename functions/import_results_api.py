"""Serve the API of what imports have found: progress, codes, rejections, warnings and report files."""

from __future__ import annotations

from core.contracts.imports import reports as reports
from core.contracts.imports import rows as rows
from core.contracts.imports.states import ImportState
from shell.api import app as api
from shell.api.conditional import IfNoneMatch, respond_to_poll
from shell.imports import queries, report_urls, results

app = api.http_app()
lambda_handler = api.http_handler(app)


@app.get("/imports/<import_id>/progress", **api.for_polls(ImportState))
def get_progress(import_id: api.Id, request: api.Request, known: IfNoneMatch = None) -> api.Response:
    """Get the status and the progress of an import, and nothing else: it is cheap to poll."""
    return respond_to_poll(known, queries.get_progress(request.caller, import_id))


@app.get("/imports/<import_id>/codes", **api.for_viewers(200, reports.CodeCounts, 404))
def get_codes(import_id: api.Id, request: api.Request) -> reports.CodeCounts:
    """Get how many rejections and warnings an import has, by code and column."""
    return results.get_codes(request.caller, import_id)


@app.get("/imports/<import_id>/bates", **api.for_viewers(200, reports.BatesNumbers, 404))
def get_bates(import_id: api.Id, request: api.Request) -> reports.BatesNumbers:
    """Get the first and the last Bates number of the documents of an import."""
    return results.get_bates(request.caller, import_id)


@app.get("/imports/<import_id>/rejections", **api.for_viewers(200, rows.RejectionPage, 404))
def list_rejections(import_id: api.Id, request: api.Request, filters: api.RejectionFilter) -> rows.RejectionPage:
    """List the rows that were not imported, with line and reason, in the order of the file."""
    return results.list_rejections(request.caller, import_id, **filters.model_dump())


@app.get("/imports/<import_id>/warnings", **api.for_viewers(200, rows.WarningPage, 404))
def list_warnings(import_id: api.Id, request: api.Request, filters: api.CodeFilter) -> rows.WarningPage:
    """List the changes to values of imported rows, in the order of the file."""
    return results.list_warnings(request.caller, import_id, **filters.model_dump())


@app.get("/imports/<import_id>/reports", **api.for_viewers(200, reports.ReportFiles, 404))
def get_reports(import_id: api.Id, request: api.Request) -> reports.ReportFiles:
    """Get URLs of the report files of an import, signed for this request."""
    return report_urls.get_reports(request.caller, import_id)
