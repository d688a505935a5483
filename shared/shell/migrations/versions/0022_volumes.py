"""Volumes: their files, what paths name, and pages of documents; imports know their volume and what they wait for."""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0022"
down_revision = "0021"

TABLES = (
    """
    CREATE TABLE IF NOT EXISTS volumes (
      id BIGINT NOT NULL AUTO_INCREMENT
        COMMENT 'The number of the volume, as the API and its folder in the bucket use it',
      tenant_id VARCHAR(64) NOT NULL COMMENT 'The tenant that owns the volume',
      case_id BIGINT NOT NULL COMMENT 'The case, cases.id',
      name VARCHAR(255) NOT NULL COMMENT 'The name of the volume, such as VOL001',
      user_id VARCHAR(255) NOT NULL COMMENT 'The user who created the volume',
      prefix VARCHAR(1024) NOT NULL COMMENT 'What the keys of its objects in the bucket begin with',
      archive_key VARCHAR(1024) COMMENT 'The key of the zip; NULL for a volume of single files',
      archive_version_id VARCHAR(1024) COMMENT 'The version of the zip that is expanded; NULL before it is sealed',
      status VARCHAR(16) NOT NULL
        COMMENT 'open, sealed (its files are listed), expanding, hashing, ready, failed, deleting or deleted',
      import_request MEDIUMTEXT
        COMMENT 'The load files and options to import with once it is ready, as JSON; NULL before',
      runs INT NOT NULL DEFAULT 0 COMMENT 'How often its import was requested',
      list_position MEDIUMTEXT
        COMMENT 'Where the listing goes on after an interruption, as JSON; NULL before and after',
      listed_at DATETIME(6) COMMENT 'When the list of its files was complete (UTC); NULL before',
      load_files MEDIUMTEXT
        COMMENT 'The load files that were found, and the top folder of the volume, as JSON; NULL before',
      late_files INT NOT NULL DEFAULT 0 COMMENT 'Objects that arrived after the listing had passed their place',
      late_names MEDIUMTEXT COMMENT 'The paths of the first of these, as JSON; NULL for none',
      files INT NOT NULL DEFAULT 0 COMMENT 'Files of the volume',
      bytes BIGINT NOT NULL DEFAULT 0 COMMENT 'Bytes of these files',
      ignored INT NOT NULL DEFAULT 0
        COMMENT 'Files that systems add to folders and zips, such as .DS_Store, left out',
      units INT NOT NULL DEFAULT 0 COMMENT 'Parts in which it is expanded or hashed',
      units_left INT NOT NULL DEFAULT 0 COMMENT 'Parts that are not done; at 0 the volume is ready',
      generation INT NOT NULL DEFAULT 1
        COMMENT '1, and one more for each retry; messages of earlier ones are ignored',
      failure_code VARCHAR(64) COMMENT 'Why it cannot be imported, as a code; NULL otherwise',
      failure_message VARCHAR(1024) COMMENT 'What is wrong and what to do about it; NULL otherwise',
      created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) COMMENT 'When it was created (UTC)',
      finished_at DATETIME(6) COMMENT 'When it became ready or failed (UTC); NULL before',
      PRIMARY KEY (id),
      KEY ix_volumes_case (tenant_id, case_id, id)
    ) COMMENT 'A folder or zip with load files and the files that they name, as it was sent.'
    """,
    """
    CREATE TABLE IF NOT EXISTS volume_uploads (
      volume_id BIGINT NOT NULL COMMENT 'The volume, volumes.id',
      path_hash BINARY(32) NOT NULL COMMENT 'SHA-256 of the path',
      path VARCHAR(1024) NOT NULL COMMENT 'The path within the volume, with slashes',
      size BIGINT NOT NULL COMMENT 'The size in bytes',
      sha256 BINARY(32) COMMENT 'SHA-256 of the file, which S3 compares; NULL if the client did not state it',
      multipart_id VARCHAR(255) COMMENT 'The multipart upload of a file that is sent in parts; NULL otherwise',
      PRIMARY KEY (volume_id, path_hash)
    ) COMMENT 'A file that a client has declared before sending it.'
    """,
    """
    CREATE TABLE IF NOT EXISTS volume_files (
      id BIGINT NOT NULL AUTO_INCREMENT COMMENT 'Internal number; do not cite it',
      volume_id BIGINT NOT NULL COMMENT 'The volume, volumes.id',
      file_no INT NOT NULL COMMENT 'The number of the file within the volume, from 0',
      path VARCHAR(1024) NOT NULL COMMENT 'The path within the volume, with slashes',
      path_hash BINARY(16) NOT NULL
        COMMENT 'The first half of the SHA-256 of the path without differences of case and of composition',
      size BIGINT NOT NULL COMMENT 'The size in bytes',
      version_id VARCHAR(1024)
        COMMENT 'The version of the object; NULL for an entry of a zip that is not expanded yet',
      etag VARCHAR(255) COMMENT 'The ETag of the object; not a hash of the file',
      md5 BINARY(16) COMMENT 'MD5 of the file; NULL if it was not computed',
      sha1 BINARY(20) COMMENT 'SHA-1 of the file; NULL if it was not computed',
      sha256 BINARY(32) COMMENT 'SHA-256 of the file; NULL if it was neither computed nor compared by S3',
      unit_no INT COMMENT 'The part of the zip''s expansion, volume_units.unit_no; NULL for a single file',
      page_count INT COMMENT 'Pages that were counted in the file; NULL if they were not',
      entry TEXT COMMENT 'Where and how the zip holds the entry, as JSON; NULL for a single file',
      PRIMARY KEY (id),
      UNIQUE KEY uq_volume_files_number (volume_id, file_no),
      KEY ix_volume_files_path (volume_id, path_hash),
      KEY ix_volume_files_unit (volume_id, unit_no)
    ) COMMENT 'A file of a sealed volume: one version of one object, or an entry of the zip that becomes one.'
    """,
    """
    CREATE TABLE IF NOT EXISTS volume_units (
      volume_id BIGINT NOT NULL COMMENT 'The volume, volumes.id',
      unit_no INT NOT NULL COMMENT 'The number of the part, from 1',
      status VARCHAR(16) NOT NULL DEFAULT 'pending' COMMENT 'pending, done, or failed (in every attempt)',
      first_file INT COMMENT 'The first file that is hashed, volume_files.file_no; NULL for entries of a zip',
      last_file INT COMMENT 'The last one; NULL for entries of a zip',
      finished_at DATETIME(6) COMMENT 'When it was done (UTC); NULL before',
      PRIMARY KEY (volume_id, unit_no)
    ) COMMENT 'A part of a volume: entries of a zip that one worker writes to the bucket, or files that it hashes.'
    """,
    """
    CREATE TABLE IF NOT EXISTS exhibit_files (
      exhibit_id BIGINT NOT NULL COMMENT 'The exhibit, exhibits.id',
      kind VARCHAR(8) NOT NULL COMMENT 'native or text',
      import_id BIGINT NOT NULL COMMENT 'The import that linked the file, imports.id',
      line_no BIGINT NOT NULL COMMENT 'The line of the import''s file',
      text_hash BINARY(16) NOT NULL COMMENT 'The first half of the SHA-256 of the path as the load file has it',
      file_id BIGINT NOT NULL COMMENT 'The file, volume_files.id; 0: the volume has none',
      rule SMALLINT NOT NULL COMMENT 'The rule by which it was found, from 2 to 6, or 0; docs/volumes.md lists all',
      PRIMARY KEY (exhibit_id, kind, import_id),
      KEY ix_exhibit_files_import (import_id, line_no)
    ) COMMENT 'The file of a volume that the path of a document''s native or text file names, as an import found it.'
    """,
    """
    CREATE TABLE IF NOT EXISTS import_chunk_files (
      import_id BIGINT NOT NULL COMMENT 'The import, imports.id',
      chunk_no INT NOT NULL COMMENT 'The chunk, import_chunks.chunk_no',
      counts VARCHAR(1024) NOT NULL COMMENT 'Counts of files and pages by name, as JSON',
      referenced MEDIUMBLOB
        COMMENT 'The numbers of the files that the chunk names, a bit for each, compressed; NULL for none',
      documents MEDIUMBLOB
        COMMENT 'The documents that it names, as JSON, compressed; NULL unless load files are compared',
      PRIMARY KEY (import_id, chunk_no)
    ) COMMENT 'What a chunk of a volume''s load file found of files and pages, as counts.'
    """,
    """
    CREATE TABLE IF NOT EXISTS page_sets (
      id BIGINT NOT NULL AUTO_INCREMENT COMMENT 'Internal number; do not cite it',
      case_id BIGINT NOT NULL COMMENT 'The case, cases.id',
      import_id BIGINT NOT NULL COMMENT 'The import of the image load file, imports.id',
      line_no BIGINT NOT NULL COMMENT 'The line of that file that begins the document, from 1',
      volume_id BIGINT COMMENT 'The volume that has the images, volumes.id; NULL if they are not in a volume',
      page_count INT NOT NULL COMMENT 'How many pages it has',
      declared_count INT COMMENT 'How many pages the image load file declares; NULL if it does not',
      content_hash BINARY(32) NOT NULL COMMENT 'SHA-256 of the pages: equal sets of one volume have equal hashes',
      PRIMARY KEY (id),
      UNIQUE KEY uq_page_sets_line (import_id, line_no)
    ) COMMENT 'The pages of a document in one image load file; inserted once and never changed.'
    """,
    """
    CREATE TABLE IF NOT EXISTS pages (
      page_set_id BIGINT NOT NULL COMMENT 'The page set, page_sets.id',
      page_no INT NOT NULL COMMENT 'The number of the page within the document, from 1',
      image_key VARCHAR(255) NOT NULL COMMENT 'The image key, which is often the page''s Bates number',
      file_id BIGINT COMMENT 'The file, volume_files.id; NULL if the volume lacks it or there is no volume',
      path VARCHAR(1024) COMMENT 'The path as the image load file has it; NULL if the file is known',
      page_in_file INT NOT NULL COMMENT 'The page within the file, from 1; 0 if the file is this page',
      rotation SMALLINT NOT NULL COMMENT 'How far it is turned clockwise, in degrees',
      PRIMARY KEY (page_set_id, page_no)
    ) COMMENT 'A page of a page set: an image file, or a page of one.'
    """,
)
# INSTANT on MySQL and MariaDB: no row is copied.
ADD_COLUMNS = {
    ("exhibits", "page_set_id"): """
        ALTER TABLE exhibits ADD COLUMN page_set_id BIGINT
          COMMENT 'The pages of the document, page_sets.id; NULL if it has no images'
    """,
    ("productions", "slip_sheets"): """
        ALTER TABLE productions ADD COLUMN slip_sheets SMALLINT NOT NULL DEFAULT 0
          COMMENT '1 if documents without images get a slip sheet, else 0'
    """,
    ("productions", "parts"): """
        ALTER TABLE productions ADD COLUMN parts MEDIUMTEXT
          COMMENT 'The first document of each part, as JSON; NULL before numbers are reserved, and for parts of 500'
    """,
    ("productions", "warnings"): """
        ALTER TABLE productions ADD COLUMN warnings MEDIUMTEXT
          COMMENT 'What was noticed before numbers were reserved, as JSON; NULL before'
    """,
    ("productions", "manifest_sha256"): """
        ALTER TABLE productions ADD COLUMN manifest_sha256 BINARY(32)
          COMMENT 'SHA-256 of the MANIFEST.csv of the volume; NULL before it is written'
    """,
    ("production_documents", "page_set_id"): """
        ALTER TABLE production_documents ADD COLUMN page_set_id BIGINT
          COMMENT 'The pages that are produced, page_sets.id; NULL for a document that has none'
    """,
    ("production_documents", "page_count"): """
        ALTER TABLE production_documents ADD COLUMN page_count INT
          COMMENT 'Pages with a number of their own, counted in the images; NULL where none were counted'
    """,
    ("imports", "kind"): """
        ALTER TABLE imports ADD COLUMN kind VARCHAR(8) NOT NULL DEFAULT 'rows'
          COMMENT 'rows of a DAT or CSV file, or images: pages of an OPT or LFP file'
    """,
    ("imports", "volume_id"): """
        ALTER TABLE imports ADD COLUMN volume_id BIGINT
          COMMENT 'The volume that has the file, volumes.id; NULL for a file that was uploaded alone'
    """,
    ("imports", "after_import_id"): """
        ALTER TABLE imports ADD COLUMN after_import_id BIGINT
          COMMENT 'The import that has to end before this one begins, imports.id; NULL for none'
    """,
}
ADD_INDEXES = {"ix_imports_volume": "volume_id", "ix_imports_after": "after_import_id"}


def upgrade() -> None:
    """Create what is missing; a migration that was interrupted is completed."""
    for statement in TABLES:
        op.execute(statement + "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin")
    inspector = inspect(op.get_bind())
    for (table, column), statement in ADD_COLUMNS.items():
        if column not in {each["name"] for each in inspector.get_columns(table)}:
            op.execute(statement)
    existing = {each["name"] for each in inspector.get_indexes("imports")}
    for name, column in ADD_INDEXES.items():
        if name not in existing:
            op.execute(f"CREATE INDEX {name} ON imports ({column})")
