import { Failure } from "../../ui/Failure";
import { More } from "../../ui/More";
import { Skeleton } from "../../ui/Skeleton";
import { Untrusted } from "../../ui/Untrusted";
import { formatBytes } from "../../ui/values";
import { useFiles } from "./queries";

/** The files of the volume with their hashes, some at a time; each can be downloaded alone. */
export function Files({ productionId }: { productionId: number }) {
  const files = useFiles(productionId);
  const shown = files.data?.pages.flatMap((page) => page.items) ?? [];
  if (files.isPending) return <Skeleton rows={6} />;
  return (
    <>
      {files.isError && <Failure error={files.error} again={() => void files.refetch()} />}
      <div className="scroll" tabIndex={0} role="region" aria-label="Files of the volume">
        <table className="list">
          <thead>
            <tr>
              <th scope="col">File</th>
              <th scope="col" className="num">
                Size
              </th>
              <th scope="col">SHA-256</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((each) => (
              <tr key={each.path}>
                <th scope="row" className="mono path">
                  <a href={each.url} rel="noreferrer">
                    <Untrusted text={each.path} />
                  </a>
                </th>
                <td className="num">{formatBytes(each.size)}</td>
                <td className="mono hash">{each.sha256}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <More pages={files} what="files" />
    </>
  );
}
