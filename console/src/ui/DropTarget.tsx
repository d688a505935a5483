import { useEffect, useRef, useState, type ReactNode } from "react";

/** Take what is dropped anywhere on the page; without it, the browser would leave the page and open the file. */
export function useDropTarget(onDrop: ((data: DataTransfer) => void) | null): boolean {
  const [isOver, setOver] = useState(false);
  const take = useRef(onDrop);
  useEffect(() => {
    take.current = onDrop;
  }, [onDrop]);
  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(take.current !== null);
    };
    const leave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const drop = (event: DragEvent) => {
      if (!hasFiles(event) || !event.dataTransfer) return;
      event.preventDefault();
      setOver(false);
      take.current?.(event.dataTransfer);
    };
    const listeners = { dragover: over, dragleave: leave, drop } as const;
    for (const [name, listener] of Object.entries(listeners)) addEventListener(name, listener as EventListener);
    return () => {
      for (const [name, listener] of Object.entries(listeners)) removeEventListener(name, listener as EventListener);
    };
  }, []);
  return isOver;
}

/** Buttons that open the browser's own dialogs, for those who do not drop: files, or a folder with all that is in it. */
export function FileButtons({ onFiles, isPrimary }: { onFiles: (files: File[]) => void; isPrimary?: boolean }) {
  return (
    <div className="bar">
      <FileButton onFiles={onFiles} isFolder={false} isPrimary={isPrimary}>
        Choose a load file or a zip
      </FileButton>
      <FileButton onFiles={onFiles} isFolder>
        Choose a folder
      </FileButton>
    </div>
  );
}

interface FileButtonProps {
  onFiles: (files: File[]) => void;
  isFolder: boolean;
  isPrimary?: boolean;
  children: ReactNode;
}

function FileButton({ onFiles, isFolder, isPrimary, children }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  // React knows no property for folders.
  useEffect(() => {
    if (isFolder) input.current?.setAttribute("webkitdirectory", "");
  }, [isFolder]);
  return (
    <>
      <button type="button" className={isPrimary ? "primary" : undefined} onClick={() => input.current?.click()}>
        {children}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        multiple={!isFolder}
        data-picks={isFolder ? "folder" : "files"}
        onChange={(event) => {
          // The list is emptied with the field.
          if (event.target.files?.length) onFiles([...event.target.files]);
          // The same files can be chosen again, after a reload of the draft or a change on disk.
          event.target.value = "";
        }}
      />
    </>
  );
}
