/** A PDF document. Browsers do not show one in a sandbox, and outside of one its links and scripts can leave this page. */
export function PdfView({ url, page }: { url: string; page: number }) {
  return (
    <div className="notice">
      <p>
        A PDF document can have links and scripts. It opens in a tab of its own, in the browser’s viewer, and reaches
        neither this page nor your session from there. If a dialog appears in that tab, the document has opened it.
      </p>
      <p>
        <a
          className="button primary"
          href={page > 1 ? `${url}#page=${page}` : url}
          target="_blank"
          rel="noopener noreferrer"
        >
          Open the PDF in a new tab{page > 1 && `, at page ${page}`}
        </a>
      </p>
    </div>
  );
}
